package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// shutdownTime is what a delivery under way gets to finish when the listener stops.
const shutdownTime = 5 * time.Second

// ListenOptions of Listen.
type ListenOptions struct {
	// Addr is host:port; "127.0.0.1:0" when empty, which takes any free port.
	Addr string
	// Hosts are further names and addresses that the certificate is for, beside localhost,
	// loopback and Addr's host.
	Hosts []string
	// Certificate is a file that keeps the certificate with its key from one start to the next;
	// where it is empty each start makes its own.
	Certificate string
	// Secrets verify deliveries: one, or the old and the new one during a rotation. Without any,
	// deliveries are printed as unverified.
	Secrets []string
	// Statuses are answered to good deliveries in turn, the last one from then on, for trying out
	// retries: {503, 503, 200}. 204 when empty. A bad signature is always 401, a malformed body 400.
	Statuses []int
	// Pretty prints each body as indented JSON below its line.
	Pretty bool
	// Out gets the lines; io.Discard when nil.
	Out io.Writer
	// Handler takes the deliveries in the listener's place; the four options above are its own then.
	Handler http.Handler
	// Ready is called once, when deliveries can come.
	Ready func(Listening)
}

// ListenAddress is where a listener is that was told no other address.
const ListenAddress = "127.0.0.1:8443"

// Listening tells where a listener is.
type Listening struct {
	// URL is the destination to subscribe, "https://127.0.0.1:8443/".
	URL string
	// CertificatePEM is the self-signed certificate, for the sender's trusted roots.
	CertificatePEM []byte
}

// Listen receives deliveries over HTTPS with a certificate of its own making, verifies each,
// prints one line for it, marks repeated event ids as duplicates, and answers. It returns nil when
// the context ends, after deliveries under way are answered.
func Listen(ctx context.Context, o ListenOptions) error {
	if o.Handler == nil {
		rc, err := newReceiver(o)
		if err != nil {
			return err
		}
		o.Handler = rc
	}
	addr := o.Addr
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }() // the server has closed it already unless something failed
	host, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	cert, text, err := o.certificate(append(append(own(), host), o.Hosts...))
	if err != nil {
		return fmt.Errorf("certificate: %w", err)
	}
	srv := &http.Server{
		Handler:           o.Handler,
		TLSConfig:         &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{cert}},
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		ErrorLog:          slog.NewLogLogger(slog.Default().Handler(), slog.LevelDebug),
	}
	if o.Ready != nil {
		o.Ready(Listening{"https://" + net.JoinHostPort(host, port) + "/", text})
	}
	return serve(ctx, srv, l)
}

func (o *ListenOptions) certificate(hosts []string) (tls.Certificate, []byte, error) {
	if o.Certificate == "" {
		return selfSigned(hosts, time.Now())
	}
	return keptCertificate(o.Certificate, hosts, time.Now())
}

func newReceiver(o ListenOptions) (*receiver, error) {
	rc := &receiver{secrets: o.Secrets, statuses: o.Statuses, pretty: o.Pretty, out: o.Out, seen: map[string]bool{}}
	if len(rc.statuses) == 0 {
		rc.statuses = []int{http.StatusNoContent}
	}
	if rc.out == nil {
		rc.out = io.Discard
	}
	for _, status := range rc.statuses {
		if status < 200 || status > 599 {
			return nil, fmt.Errorf("%d is not a status to answer with; use 200 to 599", status)
		}
	}
	for _, secret := range rc.secrets {
		if secret == "" {
			return nil, errors.New("a signing secret is empty")
		}
	}
	return rc, nil
}

func serve(ctx context.Context, srv *http.Server, l net.Listener) error {
	failed := make(chan error, 1)
	go func() { failed <- srv.ServeTLS(l, "", "") }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
	defer cancel()
	err := srv.Shutdown(stop)
	if err != nil {
		_ = srv.Close() // the connections that are left; the first error is the one to tell
	}
	<-failed // http.ErrServerClosed
	return err
}
