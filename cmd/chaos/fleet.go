package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	crand "crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	_ "github.com/lib/pq" // the outcome is read from the tables

	"canopy/db"
	"canopy/internal/devstack"
)

const workers = 2

// fleet is every process of a trial.
type fleet struct {
	o        options
	dir      string
	postgres *devstack.Postgres
	redis    *devstack.Redis
	db       *sql.DB
	env      []string
	apiURL   string
	hookURL  string
	api      *exec.Cmd
	receiver *exec.Cmd
	workers  [workers]*exec.Cmd
	client   *http.Client
	key      url.Values
	logs     *os.File

	mu    sync.Mutex
	token string
}

func newFleet(ctx context.Context, o options) (f *fleet, err error) {
	f = &fleet{o: o, client: &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}, //nolint:gosec // our own receiver
	}}}
	if f.dir, err = os.MkdirTemp("", "canopy-chaos-"); err != nil {
		return nil, err
	}
	if f.logs, err = os.Create(filepath.Join(f.dir, "canopy.log")); err != nil {
		return f, err
	}
	quiet := slog.New(slog.DiscardHandler)
	if f.postgres, err = devstack.StartPostgres(ctx, devstack.PostgresOptions{Dir: filepath.Join(f.dir, "pg"), Durable: true, Log: quiet}); err != nil {
		return f, err
	}
	if f.redis, err = devstack.StartRedis(ctx, devstack.RedisOptions{Dir: filepath.Join(f.dir, "redis"), Log: quiet}); err != nil {
		return f, err
	}
	if err := db.Migrate(ctx, f.postgres.URL()); err != nil {
		return f, err
	}
	if f.db, err = sql.Open("postgres", f.postgres.URL()); err != nil {
		return f, err
	}
	return f, f.launch(ctx)
}

// launch starts the program's processes and the receiver.
func (f *fleet) launch(ctx context.Context) error {
	pair := filepath.Join(f.dir, "receiver.pem")
	if err := makeCertificate(pair); err != nil {
		return err
	}
	api, err := freeAddress(ctx)
	if err != nil {
		return err
	}
	hook, err := freeAddress(ctx)
	if err != nil {
		return err
	}
	f.apiURL, f.hookURL = "http://"+api, "https://"+hook
	f.env = append(os.Environ(), "DATABASE_URL="+f.postgres.URL(), "REDIS_URL="+f.redis.URL(), "CANOPY_LISTEN="+api, "CANOPY_PUBLIC_URL="+f.apiURL,
		"CANOPY_SECRET_KEY="+base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{1}, 32)), "CANOPY_RATE_LIMIT=0", "CANOPY_MAX_COST=0", "CANOPY_COST_LIMIT=0",
		"CANOPY_WEBHOOK_ALLOW=127.0.0.0/8", "CANOPY_WEBHOOK_CA="+pair)
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if f.receiver, err = f.start(self, "-receiver", hook, "-pair", pair, "-seed", fmt.Sprint(f.o.seed), "-limit", f.o.limit.String()); err != nil {
		return err
	}
	bootstrap := exec.CommandContext(ctx, f.o.binary, "bootstrap", "--company", "Chaos", "--email", "chaos@example.com")
	bootstrap.Env, bootstrap.Stderr = f.env, f.logs
	out, err := bootstrap.Output()
	if err != nil {
		return fmt.Errorf("bootstrap: %w", err)
	}
	f.key = url.Values{
		"grant_type": {"client_credentials"}, "target_app": {"builder"}, "client_id": {field(string(out), "client_id")}, "client_secret": {field(string(out), "client_secret")},
	}
	if f.api, err = f.start(f.o.binary, "serve"); err != nil {
		return err
	}
	for i := range f.workers {
		if f.workers[i], err = f.start(f.o.binary, "worker"); err != nil {
			return err
		}
	}
	return f.eventually(ctx, f.newToken)
}

func (f *fleet) start(name string, args ...string) (*exec.Cmd, error) {
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = f.env, f.logs, f.logs
	return cmd, cmd.Start()
}

func field(out, name string) string {
	for line := range strings.Lines(out) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

func freeAddress(ctx context.Context) (string, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// eventually does something until it works: parts may be down at the moment.
func (f *fleet) eventually(ctx context.Context, do func(context.Context) error) error {
	for {
		err := do(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (f *fleet) newToken(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.apiURL+"/connect/token", strings.NewReader(f.key.Encode()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := f.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	var t struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&t); err != nil || t.AccessToken == "" {
		return errors.Join(errors.New("no token"), err)
	}
	f.mu.Lock()
	f.token = t.AccessToken
	f.mu.Unlock()
	return nil
}

// call sends a request to the API and decodes its answer.
func (f *fleet) call(ctx context.Context, method, path string, in, out any) error {
	raw, err := json.Marshal(in)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, f.apiURL+path, bytes.NewReader(raw))
	if err != nil {
		return err
	}
	f.mu.Lock()
	req.Header.Set("Authorization", "Bearer "+f.token)
	f.mu.Unlock()
	req.Header.Set("Content-Type", "application/json")
	resp, err := f.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode >= 300 || bytes.Contains(body, []byte(`"errors":[`)) {
		return fmt.Errorf("%s %s: %d %.300s", method, path, resp.StatusCode, body)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(body, out)
}

// heard is what the receivers have heard: destination → event → hearing.
func (f *fleet) heard(ctx context.Context) (map[string]map[string]*hearing, error) {
	all := map[string]map[string]*hearing{}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.hookURL+"/report", nil)
	if err != nil {
		return nil, err
	}
	resp, err := f.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	return all, json.NewDecoder(resp.Body).Decode(&all)
}

func (f *fleet) calm(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.hookURL+"/calm", nil)
	if err != nil {
		return err
	}
	resp, err := f.client.Do(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// close ends every process. The logs stay where something went wrong.
func (f *fleet) close(failed bool) {
	for _, cmd := range append(f.workers[:], f.api, f.receiver) {
		if cmd != nil && cmd.Process != nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	}
	if f.db != nil {
		_ = f.db.Close()
	}
	if f.redis != nil {
		_ = f.redis.Kill()
	}
	if f.postgres != nil {
		f.postgres.Remove()
	}
	if f.logs != nil {
		_ = f.logs.Close()
	}
	if !failed {
		_ = os.RemoveAll(f.dir)
	}
}

// makeCertificate writes a self-signed certificate for the loopback address, with its key, to file.
func makeCertificate(file string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), crand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "chaos"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(crand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	text := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})...)
	return os.WriteFile(file, text, 0o600)
}
