package webhook

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"time"
)

// certificateLife is how long a certificate is valid; one that ends within certificateRest is made
// anew at the next start.
const (
	certificateLife = 30 * 24 * time.Hour
	certificateRest = 24 * time.Hour
)

// own are the names of the machine itself.
func own() []string { return []string{"localhost", "127.0.0.1", "::1"} }

// KeepCertificate makes the certificate of listeners on this machine in a file, unless it keeps a good one.
func KeepCertificate(file string) error {
	_, _, err := keptCertificate(file, own(), time.Now())
	return err
}

// keptCertificate gives the certificate that a file keeps with its key, and its PEM text. It makes
// one where the file is missing, or its certificate is not for all of the hosts or about to end.
func keptCertificate(file string, hosts []string, now time.Time) (tls.Certificate, []byte, error) {
	kept, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return tls.Certificate{}, nil, err
	}
	if err == nil {
		pair, err := tls.X509KeyPair(kept, kept)
		if err != nil {
			return tls.Certificate{}, nil, fmt.Errorf("%s holds something else than a listener's certificate: %w", file, err)
		}
		if serves(pair.Leaf, hosts, now) {
			return pair, pemOf(pair.Certificate[0]), nil
		}
	}
	pair, text, err := selfSigned(hosts, now)
	if err != nil {
		return pair, nil, err
	}
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		return pair, nil, err
	}
	both := bytes.Join([][]byte{text, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})}, nil)
	return pair, text, os.WriteFile(file, both, 0o600)
}

// serves tells whether a certificate is good for hosts for a while.
func serves(cert *x509.Certificate, hosts []string, now time.Time) bool {
	for _, host := range hosts {
		if cert.VerifyHostname(host) != nil {
			return false
		}
	}
	return now.Add(certificateRest).Before(cert.NotAfter)
}

func pemOf(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// selfSigned makes a certificate for hosts (names or addresses) that signs itself, and its
// PEM text for those who are to trust it.
func selfSigned(hosts []string, now time.Time) (tls.Certificate, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	template := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: "Canopy webhook listener"},
		NotBefore:             now.Add(-time.Hour), // clocks differ
		NotAfter:              now.Add(certificateLife),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IsCA:                  true, // so that it can stand in a file of roots
		BasicConstraintsValid: true,
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pemOf(der), nil
}
