// Package config reads the program's settings from its environment. Every fault is named, all of
// them at once.
package config

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Mode is what the program is started as; it decides what must be set.
type Mode int

// Dev fills every gap with something local; Tool needs the database only; Server is for serve and
// worker.
const (
	Dev Mode = iota
	Tool
	Server
)

// Config is the program's settings.
type Config struct {
	DatabaseURL, RedisURL string
	Listen                string
	PublicURL             *url.URL
	SecretKey             []byte
	BlobURL               string
	Embeddings, Chat      Provider
	SMTPURL               string
	WebhookAllow          []netip.Prefix
	WebhookCA             string
	MonitorUser           string
	MonitorPassword       string
	// RateLimit, MaxCost and CostLimit are 0 for none.
	RateLimit, MaxCost, CostLimit int
	Introspection                 bool
	CORSOrigins                   []string
	TrustedProxies                []netip.Prefix
	// VectorCache is in bytes.
	VectorCache      int64
	WebhookRetention time.Duration
}

// Provider is an OpenAI-compatible server; URL is empty where none is configured.
type Provider struct{ URL, APIKey, Model string }

// Load reads and checks the settings.
func Load(mode Mode, getenv func(string) string) (*Config, error) {
	l := &loader{getenv: getenv}
	c := &Config{
		DatabaseURL:      l.url("DATABASE_URL", "postgres", "postgresql"),
		RedisURL:         l.url("REDIS_URL", "redis", "rediss", "redis-cluster", "redis-sentinel"),
		Listen:           l.listen(mode),
		SecretKey:        l.key("CANOPY_SECRET_KEY"),
		BlobURL:          l.url("CANOPY_BLOB_URL", "file", "s3"),
		Embeddings:       l.provider("CANOPY_EMBEDDINGS"),
		Chat:             l.provider("CANOPY_CHAT"),
		SMTPURL:          l.url("CANOPY_SMTP_URL", "smtp", "smtps"),
		WebhookAllow:     l.prefixes("CANOPY_WEBHOOK_ALLOW"),
		WebhookCA:        getenv("CANOPY_WEBHOOK_CA"),
		MonitorUser:      getenv("CANOPY_MONITOR_USER"),
		MonitorPassword:  getenv("CANOPY_MONITOR_PASSWORD"),
		RateLimit:        l.count("CANOPY_RATE_LIMIT", 6000),
		MaxCost:          l.count("CANOPY_MAX_COST", 50_000),
		CostLimit:        l.count("CANOPY_COST_LIMIT", 600_000),
		Introspection:    l.flag("CANOPY_INTROSPECTION", true),
		CORSOrigins:      l.origins("CANOPY_CORS_ORIGINS"),
		TrustedProxies:   l.prefixes("CANOPY_TRUSTED_PROXIES"),
		VectorCache:      int64(l.count("CANOPY_VECTOR_CACHE", 256<<20)),
		WebhookRetention: l.duration("CANOPY_WEBHOOK_RETENTION", 30*24*time.Hour),
	}
	c.PublicURL = l.publicURL(c.Listen)
	l.require(mode, c)
	return c, errors.Join(l.faults...)
}

func (l *loader) require(mode Mode, c *Config) {
	if mode == Dev {
		return
	}
	if c.DatabaseURL == "" {
		l.fault("DATABASE_URL", "is required: postgres://user:password@host:5432/name")
	}
	if len(c.SecretKey) == 0 {
		l.fault("CANOPY_SECRET_KEY", "is required: 32 random bytes in base64, such as `openssl rand -base64 32` gives")
	}
	if mode == Server && c.RedisURL == "" {
		l.fault("REDIS_URL", "is required: redis://host:6379/0")
	}
	if (c.MonitorUser == "") != (c.MonitorPassword == "") {
		l.fault("CANOPY_MONITOR_PASSWORD", "and CANOPY_MONITOR_USER go together")
	}
}

// loader reads one variable after another and collects the faults.
type loader struct {
	getenv func(string) string
	faults []error
}

func (l *loader) fault(name, format string, args ...any) {
	l.faults = append(l.faults, fmt.Errorf("%s "+format, append([]any{name}, args...)...))
}

func (l *loader) url(name string, schemes ...string) string {
	v := l.getenv(name)
	if v == "" {
		return ""
	}
	scheme, rest, ok := strings.Cut(v, "://")
	for _, s := range schemes {
		if ok && s == scheme && rest != "" {
			return v
		}
	}
	l.fault(name, "must begin with %s://", strings.Join(schemes, ":// or "))
	return ""
}

func (l *loader) listen(mode Mode) string {
	v := l.getenv("CANOPY_LISTEN")
	if v == "" && mode == Dev {
		v = "127.0.0.1:8080"
	}
	if v == "" {
		v = ":8080"
	}
	if _, port, err := net.SplitHostPort(v); err != nil {
		l.fault("CANOPY_LISTEN", "must be host:port or :port, such as :8080")
	} else if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		l.fault("CANOPY_LISTEN", "must end with a port number, such as :8080")
	}
	return v
}

func (l *loader) publicURL(listen string) *url.URL {
	v := l.getenv("CANOPY_PUBLIC_URL")
	if v == "" {
		host, port, _ := net.SplitHostPort(listen)
		if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
			host = "localhost"
		}
		return &url.URL{Scheme: "http", Host: net.JoinHostPort(host, port)}
	}
	u, err := url.Parse(v)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" {
		l.fault("CANOPY_PUBLIC_URL", "must be where the platform is reached, such as https://api.example.com")
		return &url.URL{}
	}
	u.Path = strings.TrimRight(u.Path, "/")
	return u
}

func (l *loader) key(name string) []byte {
	v := l.getenv(name)
	if v == "" {
		return nil
	}
	raw, err := base64.StdEncoding.DecodeString(v)
	if err != nil || len(raw) != 32 {
		l.fault(name, "must be 32 bytes in base64, such as `openssl rand -base64 32` gives")
		return nil
	}
	return raw
}

func (l *loader) provider(prefix string) Provider {
	p := Provider{l.url(prefix+"_URL", "http", "https"), l.getenv(prefix + "_API_KEY"), l.getenv(prefix + "_MODEL")}
	if p.URL != "" && p.Model == "" {
		l.fault(prefix+"_MODEL", "is required beside %s_URL", prefix)
	}
	return p
}

func (l *loader) prefixes(name string) (list []netip.Prefix) {
	for _, v := range l.words(name) {
		p, err := netip.ParsePrefix(v)
		if err != nil {
			l.fault(name, "must be a comma-separated list of CIDRs, such as 10.0.0.0/8; %q is none", v)
			continue
		}
		list = append(list, p)
	}
	return list
}

func (l *loader) origins(name string) (list []string) {
	for _, v := range l.words(name) {
		u, err := url.Parse(v)
		if err != nil || u.Scheme == "" || u.Host == "" || strings.Trim(u.Path, "/") != "" {
			l.fault(name, "must be a comma-separated list of origins, such as https://app.example.com; %q is none", v)
			continue
		}
		list = append(list, u.Scheme+"://"+u.Host)
	}
	return list
}

func (l *loader) words(name string) (list []string) {
	for v := range strings.SplitSeq(l.getenv(name), ",") {
		if v = strings.TrimSpace(v); v != "" {
			list = append(list, v)
		}
	}
	return list
}

func (l *loader) count(name string, otherwise int) int {
	v := l.getenv(name)
	if v == "" {
		return otherwise
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 {
		l.fault(name, "must be a whole number, 0 or more")
		return otherwise
	}
	return n
}

func (l *loader) flag(name string, otherwise bool) bool {
	switch strings.ToLower(l.getenv(name)) {
	case "":
		return otherwise
	case "1", "true", "on", "yes":
		return true
	case "0", "false", "off", "no":
		return false
	}
	l.fault(name, "must be on or off")
	return otherwise
}

func (l *loader) duration(name string, otherwise time.Duration) time.Duration {
	v := l.getenv(name)
	if v == "" {
		return otherwise
	}
	if days, ok := strings.CutSuffix(v, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n > 0 {
			return time.Duration(n) * 24 * time.Hour
		}
	}
	d, err := time.ParseDuration(v)
	if err != nil || d <= 0 {
		l.fault(name, "must be a time such as 30d or 12h")
		return otherwise
	}
	return d
}
