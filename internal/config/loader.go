package config

import (
	"bytes"
	"cmp"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"math"
	"net"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"canopy/internal/mail"
	"canopy/internal/pgconn"
	"canopy/internal/quota"
	"canopy/internal/redisconn"
	"canopy/internal/telemetry"
)

// loader reads one variable after another and collects the faults.
type loader struct {
	getenv func(string) string
	faults []error
}

func (l *loader) fault(name, format string, args ...any) {
	l.faults = append(l.faults, &Fault{name, fmt.Sprintf(format, args...)})
}

// value is a variable without what a file or a shell put around it.
func (l *loader) value(name string) string { return strings.TrimSpace(l.getenv(name)) }

func (l *loader) database(name string) string {
	v := l.value(name)
	if v == "" {
		return ""
	}
	// The driver's own words may show the password.
	if _, err := pgconn.Parse(v); err != nil {
		l.fault(name, "must look like postgres://user:password@host:5432/name?sslmode=require (several hosts: host1:5432,host2:5432), "+
			"special letters in user and password written with %%")
	}
	return v
}

func (l *loader) redis(name string) string {
	v := l.value(name)
	if v == "" {
		return ""
	}
	if _, err := redisconn.Parse(v); err != nil {
		l.fault(name, "%s", strings.TrimPrefix(err.Error(), name+": "))
	}
	return v
}

func (l *loader) listen(name string, mode Mode) string {
	v := l.value(name)
	switch {
	case v == "" && mode == Dev:
		return defaultDevListen
	case v == "":
		return defaultListen
	}
	_, port, err := net.SplitHostPort(v)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		l.fault(name, "must be host:port or :port, such as :8080, not %q", v)
	}
	return v
}

// hostPort is an address with a port, where one is given.
func (l *loader) hostPort(name string) string {
	v := l.value(name)
	if v == "" {
		return ""
	}
	host, port, err := net.SplitHostPort(v)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil || host == "" {
		l.fault(name, "must be host:port, such as 127.0.0.1:53, not %q", v)
	}
	return v
}

// publicURL is set, or what a browser on this machine would say.
func (l *loader) publicURL(name, listen string) (u *url.URL, set bool) {
	v := l.value(name)
	if v == "" {
		host, port, _ := net.SplitHostPort(listen) // a fault of it is told already
		if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
			host = "localhost"
		}
		return &url.URL{Scheme: "http", Host: net.JoinHostPort(host, port)}, false
	}
	u = l.web(name, v, "https://api.example.com")
	if u == nil {
		return nil, true
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		l.fault(name, "must have no user, query or fragment: https://api.example.com")
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), ""
	return u, true
}

// domainOf reads the host of an address, or a domain that it is in.
func (l *loader) domainOf(name string, at *url.URL) string {
	v := strings.ToLower(l.value(name))
	if v == "" || at == nil { // whose fault is told already
		return v
	}
	host := strings.ToLower(at.Hostname())
	if host != v && (!strings.HasSuffix(host, "."+v) || !strings.Contains(v, ".") || net.ParseIP(host) != nil) {
		l.fault(name, "must be the host of CANOPY_PUBLIC_URL, %s, or a domain above it", host)
	}
	return v
}

// web reads an address of http or https.
func (l *loader) web(name, v, example string) *url.URL {
	u, err := url.Parse(v)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		l.fault(name, "must be an address of http:// or https://, such as %s", example)
		return nil
	}
	return u
}

// keys reads keys of base64, which has no comma.
func (l *loader) keys(name string) (list [][]byte) {
	words := l.words(name)
	if len(words) == 0 && l.value(name) != "" {
		words = []string{""} // commas alone
	}
	for i, v := range words {
		raw, err := base64.StdEncoding.DecodeString(v)
		switch {
		case err != nil || len(raw) != secretKeyBytes:
			l.fault(name, "must be %d bytes in base64, as `openssl rand -base64 %[1]d` prints, or several of them, the newest first, "+
				"separated by commas: number %d is not", secretKeyBytes, i+1)
			return nil
		case slices.ContainsFunc(list, func(k []byte) bool { return bytes.Equal(k, raw) }):
			l.fault(name, "must have each key once: number %d was there before", i+1)
			return nil
		}
		list = append(list, raw)
	}
	return list
}

func (l *loader) blob(name string) string {
	v := l.value(name)
	if v == "" {
		return ""
	}
	u, err := url.Parse(v)
	folder := err == nil && u.Scheme == "file" && u.Host == "" && strings.HasPrefix(u.Path, "/")
	bucket := err == nil && u.Scheme == "s3" && u.Host != ""
	if !folder && !bucket {
		l.fault(name, "must be file:///absolute/folder or s3://bucket?region=…")
	}
	return v
}

// provider reads the three variables of one server.
func (l *loader) provider(prefix string) Provider {
	p := l.reranker(prefix)
	if p.URL != "" && p.Model == "" {
		l.fault(prefix+"_MODEL", "is required beside %s_URL", prefix)
	}
	return p
}

// reranker reads the variables of a server that may have one model alone, which is then not named.
func (l *loader) reranker(prefix string) Provider {
	p := Provider{URL: l.value(prefix + "_URL"), APIKey: l.value(prefix + "_API_KEY"), Model: l.value(prefix + "_MODEL")}
	if p.URL != "" {
		l.web(prefix+"_URL", p.URL, "https://models.example.com/v1")
		return p
	}
	if p.APIKey != "" || p.Model != "" {
		l.fault(prefix+"_URL", "is required beside %s_API_KEY and %s_MODEL", prefix, prefix)
	}
	return p
}

// language is a name that Tesseract's models have, such as deu, chi_sim or script/Latin.
var language = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*(/[A-Za-z0-9_]+)?$`)

// recognition reads what recognises text in pictures, and in which languages.
func (l *loader) recognition(program, languages string) string {
	list := l.words(languages)
	for _, name := range list {
		if !language.MatchString(name) {
			l.fault(languages, "must be names of Tesseract's models, separated by commas, such as eng,deu; %q is none", name)
			return ""
		}
	}
	switch {
	case l.value(program) == "tesseract":
		return cmp.Or(strings.Join(list, "+"), defaultLanguage)
	case l.value(program) != "":
		l.fault(program, "must be tesseract, or not be set")
	case len(list) > 0:
		l.fault(program, "is required beside %s", languages)
	}
	return ""
}

func (l *loader) mail(name string) string {
	v := l.value(name)
	if v == "" {
		return ""
	}
	if _, err := mail.NewSMTP(v); err != nil {
		l.fault(name, "%s", err)
	}
	return v
}

func (l *loader) certificates(name string) string {
	path := l.value(name)
	if path == "" {
		return ""
	}
	pem, err := os.ReadFile(path)
	if err != nil {
		l.fault(name, "must be a PEM file that can be read: %v", err)
		return path
	}
	if !x509.NewCertPool().AppendCertsFromPEM(pem) {
		l.fault(name, "must be a PEM file with certificates: %s has none", path)
	}
	return path
}

// limit reads a number whose 0 is no limit.
func (l *loader) limit(name string, otherwise int) int {
	v := l.value(name)
	if v == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(v, 10, 31)
	if err != nil {
		l.fault(name, "must be a whole number from 0, which is no limit, to %d, not %q", math.MaxInt32, v)
	}
	return int(n) // 31 bits
}

// count reads a number of things, of which there is one at least, or one of some words, such as off, which is 0.
func (l *loader) count(name string, otherwise int, words ...string) int {
	v := l.value(name)
	if v == "" {
		return otherwise
	}
	for _, word := range words {
		if strings.EqualFold(v, word) {
			return 0
		}
	}
	n, err := strconv.ParseUint(v, 10, 31)
	if err != nil || n == 0 {
		l.fault(name, "must be %s, not %q", strings.Join(append([]string{fmt.Sprintf("a whole number from 1 to %d", math.MaxInt32)}, words...), " or "), v)
	}
	return int(n) // 31 bits
}

// conns reads how many connections a pool may have. With fewer than four, lists at the pace of slow
// clients could hold all of them.
func (l *loader) conns(name string) int {
	const least, most = 4, 10_000
	v := l.value(name)
	if v == "" {
		return 0
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < least || n > most {
		l.fault(name, "must be a whole number from %d to %d, not %q", least, most, v)
	}
	return n
}

// sizes are the units of bytes, the longest first.
var sizes = []struct {
	unit  string
	bytes int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"B", 1}, {"", 1}}

// parseSize reads a number of bytes.
func parseSize(v string) (n int64, ok bool) {
	for _, s := range sizes {
		digits, found := strings.CutSuffix(v, s.unit)
		if !found {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		return n * s.bytes, err == nil && n >= 0 && n <= math.MaxInt64/s.bytes
	}
	return 0, false
}

func (l *loader) size(name string, otherwise int64) int64 {
	v := l.value(name)
	if v == "" {
		return otherwise
	}
	n, ok := parseSize(v)
	if !ok {
		l.fault(name, "must be a number of bytes, such as 268435456 or 256MiB, not %q", v)
	}
	return n
}

// limits reads name=number pairs, which go before the defaults; none takes one away. rate and cost are those of one key.
func (l *loader) limits(name string, rate, cost int) map[quota.Name]int64 {
	most := quota.Defaults()
	for of, n := range map[quota.Name]int{quota.RequestsPerMinute: rate, quota.CostPerMinute: cost} {
		if n > 0 {
			most[of] = quota.BranchShare * int64(n)
		}
	}
	for _, pair := range l.words(name) {
		limit, v, _ := strings.Cut(pair, "=")
		limit, v = strings.TrimSpace(limit), strings.TrimSpace(v)
		n, ok := parseSize(v)
		switch of := quota.Name(limit); {
		case !of.Known():
			l.fault(name, "has %q, which is no limit: there are %s", limit, quota.List())
		case v == "none":
			delete(most, of)
		case !ok, n > quota.Highest, of != quota.StorageBytes && strings.ContainsAny(v, "KMGTB"):
			l.fault(name, "must give %s a whole number, or none, not %q", limit, v)
		default:
			most[of] = n
		}
	}
	return most
}

func (l *loader) flag(name string, otherwise bool) bool {
	v := strings.ToLower(l.value(name))
	switch {
	case v == "":
		return otherwise
	case slices.Contains([]string{"on", "true", "yes", "1"}, v):
		return true
	case slices.Contains([]string{"off", "false", "no", "0"}, v):
		return false
	}
	l.fault(name, "must be on or off, not %q", v)
	return otherwise
}

const day = 24 * time.Hour

func (l *loader) duration(name string, otherwise time.Duration) time.Duration {
	v := l.value(name)
	if v == "" {
		return otherwise
	}
	d, err := parseDuration(v)
	if err != nil || d <= 0 {
		l.fault(name, "must be a time such as 30d or 12h, not %q", v)
	}
	return d
}

// lag reads how late a replica may be, and whether a home that does not answer counts as late, too.
func (l *loader) lag(name string, otherwise time.Duration) (d time.Duration, strict bool) {
	v, strict := strings.CutSuffix(l.value(name), ",strict")
	if v == "" && !strict {
		return otherwise, false
	}
	d, err := parseDuration(v)
	if err != nil || d < time.Second {
		l.fault(name, "must be a time of at least a second, such as 30s, or 30s,strict, not %q", l.value(name))
	}
	return d, strict
}

// pause reads a time that may be none. Longer than most, it would look as if the process hung.
func (l *loader) pause(name string, otherwise time.Duration) time.Duration {
	const most = 10 * time.Minute
	v := l.value(name)
	if v == "" {
		return otherwise
	}
	d, err := parseDuration(v)
	if err != nil || d < 0 || d > most {
		l.fault(name, "must be a time from 0 to %.0fm, such as 5s, not %q", most.Minutes(), v)
	}
	return d
}

// lasting reads a time that may have no end, which is 0.
func (l *loader) lasting(name string, otherwise time.Duration) time.Duration {
	v := l.value(name)
	switch {
	case v == "":
		return otherwise
	case strings.EqualFold(v, "off"):
		return 0
	}
	d, err := parseDuration(v)
	if err != nil || d < 0 {
		l.fault(name, "must be a time such as 400d or 12h, or off, which is for ever, not %q", v)
	}
	return d
}

// parseDuration reads Go's notation, and whole days.
func parseDuration(v string) (time.Duration, error) {
	days, ok := strings.CutSuffix(v, "d")
	if !ok {
		return time.ParseDuration(v)
	}
	n, err := strconv.ParseInt(days, 10, 64)
	if err == nil && (n < 0 || n > int64(math.MaxInt64/day)) {
		err = strconv.ErrRange
	}
	return time.Duration(n) * day, err
}

// telemetry reads what is sent over OTLP, by the standard's own variables.
func (l *loader) telemetry() telemetry.Settings {
	s, name, fault := telemetry.Load(l.value)
	if fault != "" {
		l.fault(name, "%s", fault)
	}
	return s
}
