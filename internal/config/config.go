// Package config reads the program's settings from its environment. It checks all of them before
// it gives any, and tells every fault at once, each with the name of its variable.
package config

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"time"

	"canopy/internal/quota"
	"canopy/internal/telemetry"
)

// Mode is what the program is started as; it decides what must be set.
type Mode int

// Dev fills every gap with something local; Schema is for migrate, which needs the bare database; Tool
// is for the other commands of the operator's shell, which need the secret key, too; Server is for
// serve, Worker for worker.
const (
	Dev Mode = iota
	Schema
	Tool
	Server
	Worker
)

// The defaults that more than one place tells.
const (
	defaultListen           = ":8080"
	defaultDevListen        = "127.0.0.1:8080"
	defaultRateLimit        = 6000
	defaultMaxCost          = 50_000
	defaultCostLimit        = 600_000
	defaultVectorCache      = 256 << 20
	defaultVectorChunks     = 50_000
	defaultVectorDisk       = 4 << 30
	workerVectorCache       = 64 << 20 // it searches for runs only, and has documents in memory, too
	defaultWebhookRetention = 30 * 24 * time.Hour
	defaultRunRetention     = 30 * 24 * time.Hour
	defaultAuditRetention   = 400 * 24 * time.Hour
	defaultMonthsFrom       = 20_000_000
	defaultEraseAfter       = 30 * 24 * time.Hour
	defaultMaxImport        = 10 << 30
	defaultDrain            = 5 * time.Second
	defaultMaxLag           = 30 * time.Second
	secretKeyBytes          = 32
	defaultLanguage         = "eng"
)

// Config is the program's settings. A URL that is not set is empty.
type Config struct {
	DatabaseURL, RedisURL string
	// DatabaseReadURL names servers that follow the database's; empty where none answers reads.
	DatabaseReadURL string
	// Region is the region whose cell this is, HomeURL the home's database; both are empty at the home.
	Region, HomeURL string
	// CellKeys are those by which cells of the platform know each other's requests, the newest first; none where they pass nothing on.
	CellKeys [][]byte
	// MaxLag is how late a cell's replica of the directory may be while callers are let in. StrictLag counts a home that does not answer as late, too.
	MaxLag    time.Duration
	StrictLag bool
	// DBMaxConns bounds the connections to PostgreSQL; 0 leaves it to the pool.
	DBMaxConns int
	Listen     string
	// PublicURL is where the platform is reached, without a slash at its end.
	PublicURL *url.URL
	// PasskeyDomain is the domain of passkeys; "" is PublicURL's host.
	PasskeyDomain string
	// SecretKeys are of 32 bytes each, the newest first; there is none in Dev where none is set.
	SecretKeys       [][]byte
	BlobURL          string
	Embeddings, Chat Provider
	// Rerank is a server that orders hits anew; its Model can be empty.
	Rerank Provider
	// OCRLanguages are those in which Tesseract reads pictures, as it is told them ("eng+deu"); empty for not at all.
	OCRLanguages string
	SMTPURL      string
	// MailFolder is where mails are kept that nobody is sent; "" where they are sent. No variable sets it: Dev does, where there is no SMTPURL.
	MailFolder   string
	WebhookAllow []netip.Prefix
	// Receiver is an address of this machine to which webhooks go, too. No variable sets it: Dev does.
	Receiver netip.AddrPort
	// WebhookCA is the path of a PEM file that holds at least one certificate.
	WebhookCA string
	// DNS is the server that is asked for the records of domains, host:port; empty: those of the system.
	DNS string
	// MonitorUser and MonitorPassword are both set or both empty.
	MonitorUser, MonitorPassword string
	// RateLimit is requests a minute and API key, MaxCost the cost of one GraphQL request, CostLimit
	// cost a minute and API key. 0 is no limit.
	RateLimit, MaxCost, CostLimit int
	// Limits are those of companies right below root that have none of their own.
	Limits        map[quota.Name]int64
	Introspection bool
	// CORSOrigins are as browsers send them: scheme://host[:port] in lower case.
	CORSOrigins []string
	// PortalOrigins are those of the pages that may show the portal of webhooks inside them, written alike.
	PortalOrigins []string
	// LocalOrigins lets in the pages that this machine serves to itself, too: in Dev.
	LocalOrigins   bool
	TrustedProxies []netip.Prefix
	// VectorCache is in bytes.
	VectorCache int64
	// VectorDisk is how many bytes the files of search indexes have at most, 0 for no files; VectorDir is their folder, empty for a usual one.
	VectorDisk int64
	VectorDir  string
	// VectorURL is the database that has copies of the vectors of large contexts, empty for none; VectorChunks is how many chunks these have.
	VectorURL    string
	VectorChunks int
	// WebhookRetention is how long deliveries that have ended are kept, RunRetention the same of runs.
	WebhookRetention, RunRetention time.Duration
	// AuditRetention is how long audit events are kept, 0 for ever.
	AuditRetention time.Duration
	// MonthsFrom is how many rows a log has once it is changed over to months, 0 for never.
	MonthsFrom int
	// EraseAfter is how long a deleted company can be restored before it is erased.
	EraseAfter time.Duration
	// MaxImport is how large an archive may be that is uploaded to be read in, in bytes.
	MaxImport int64
	// Telemetry says which traces and metrics are sent; in commands none is.
	Telemetry telemetry.Settings
	// Drain is how long requests are taken on after the process was told to stop.
	Drain time.Duration

	publicURLSet, dev bool
}

// Provider is an OpenAI-compatible server; URL is empty where none is configured.
type Provider struct{ URL, APIKey, Model string }

// Fault is one thing wrong with the settings.
type Fault struct {
	// Name is the variable's.
	Name string
	// Problem says what would be right. It shows no value that may be secret.
	Problem string
}

func (f *Fault) Error() string { return f.Name + " " + f.Problem }

// Load reads and checks the settings; getenv is os.Getenv, or stands for it. An empty variable
// counts as unset. The error joins every Fault.
func Load(mode Mode, getenv func(string) string) (*Config, error) {
	l := &loader{getenv: getenv}
	c := &Config{
		DatabaseURL:      l.database("DATABASE_URL"),
		DatabaseReadURL:  l.database("CANOPY_DATABASE_READ_URL"),
		Region:           l.value("CANOPY_REGION"),
		HomeURL:          l.database("CANOPY_HOME_URL"),
		CellKeys:         l.keys("CANOPY_CELL_KEY"),
		DBMaxConns:       l.conns("CANOPY_DB_MAX_CONNS"),
		RedisURL:         l.redis("REDIS_URL"),
		Listen:           l.listen("CANOPY_LISTEN", mode),
		SecretKeys:       l.keys("CANOPY_SECRET_KEY"),
		BlobURL:          l.blob("CANOPY_BLOB_URL"),
		Embeddings:       l.provider("CANOPY_EMBEDDINGS"),
		Chat:             l.provider("CANOPY_CHAT"),
		Rerank:           l.reranker("CANOPY_RERANK"),
		OCRLanguages:     l.recognition("CANOPY_OCR", "CANOPY_OCR_LANGUAGES"),
		SMTPURL:          l.mail("CANOPY_SMTP_URL"),
		WebhookAllow:     l.prefixes("CANOPY_WEBHOOK_ALLOW"),
		WebhookCA:        l.certificates("CANOPY_WEBHOOK_CA"),
		DNS:              l.hostPort("CANOPY_DNS"),
		MonitorUser:      getenv("CANOPY_MONITOR_USER"),
		MonitorPassword:  getenv("CANOPY_MONITOR_PASSWORD"),
		RateLimit:        l.limit("CANOPY_RATE_LIMIT", defaultRateLimit),
		MaxCost:          l.limit("CANOPY_MAX_COST", defaultMaxCost),
		CostLimit:        l.limit("CANOPY_COST_LIMIT", defaultCostLimit),
		Introspection:    l.flag("CANOPY_INTROSPECTION", true),
		CORSOrigins:      l.origins("CANOPY_CORS_ORIGINS"),
		PortalOrigins:    l.origins("CANOPY_PORTAL_ORIGINS"),
		LocalOrigins:     mode == Dev,
		TrustedProxies:   l.prefixes("CANOPY_TRUSTED_PROXIES"),
		VectorURL:        l.database("CANOPY_VECTOR_URL"),
		VectorChunks:     l.count("CANOPY_VECTOR_CHUNKS", defaultVectorChunks),
		VectorCache:      l.size("CANOPY_VECTOR_CACHE", vectorCache(mode)),
		VectorDisk:       l.size("CANOPY_VECTOR_DISK", defaultVectorDisk),
		VectorDir:        l.value("CANOPY_VECTOR_DIR"),
		WebhookRetention: l.duration("CANOPY_WEBHOOK_RETENTION", defaultWebhookRetention),
		RunRetention:     l.duration("CANOPY_RUN_RETENTION", defaultRunRetention),
		AuditRetention:   l.lasting("CANOPY_AUDIT_RETENTION", defaultAuditRetention),
		MonthsFrom:       l.count("CANOPY_LOG_MONTHS", defaultMonthsFrom, "off"),
		EraseAfter:       l.duration("CANOPY_ERASE_AFTER", defaultEraseAfter),
		MaxImport:        l.size("CANOPY_MAX_IMPORT", defaultMaxImport),
		Drain:            l.pause("CANOPY_DRAIN", drain(mode)),
	}
	c.MaxLag, c.StrictLag = l.lag("CANOPY_MAX_LAG", defaultMaxLag)
	c.PublicURL, c.publicURLSet = l.publicURL("CANOPY_PUBLIC_URL", c.Listen)
	c.PasskeyDomain = l.domainOf("CANOPY_PASSKEY_DOMAIN", c.PublicURL)
	c.Limits = l.limits("CANOPY_LIMITS", c.RateLimit, c.CostLimit)
	if mode == Dev || mode == Server || mode == Worker {
		c.Telemetry = l.telemetry()
	}
	c.dev = mode == Dev
	l.require(mode)
	if len(l.faults) > 0 {
		return nil, errors.Join(l.faults...)
	}
	return c, nil
}

func vectorCache(mode Mode) int64 {
	if mode == Worker {
		return workerVectorCache
	}
	return defaultVectorCache
}

// drain is nothing in dev, where nobody stands before the platform.
func drain(mode Mode) time.Duration {
	if mode == Dev {
		return 0
	}
	return defaultDrain
}

// require tells what is missing: of what is wrong, its own fault tells already.
func (l *loader) require(mode Mode) {
	for _, v := range Variables() {
		if v.needed(mode) && l.value(v.Name) == "" {
			l.fault(v.Name, "is required: %s", v.Example)
		}
	}
	if region, home := l.value("CANOPY_REGION"), l.value("CANOPY_HOME_URL"); mode == Server || mode == Worker {
		switch {
		case home != "" && region == "":
			l.fault("CANOPY_REGION", "is required beside CANOPY_HOME_URL")
		case region != "" && home == "":
			l.fault("CANOPY_HOME_URL", "is required beside CANOPY_REGION")
		}
	}
	user, password := l.getenv("CANOPY_MONITOR_USER"), l.getenv("CANOPY_MONITOR_PASSWORD")
	switch {
	case user == "" && password != "":
		l.fault("CANOPY_MONITOR_USER", "is required beside CANOPY_MONITOR_PASSWORD")
	case user != "" && password == "":
		l.fault("CANOPY_MONITOR_PASSWORD", "is required beside CANOPY_MONITOR_USER")
	}
}

// Warnings are what an operator should hear at the start of serve and worker, one sentence each.
func (c *Config) Warnings() []string {
	var list []string
	if len(c.WebhookAllow) > 0 {
		list = append(list, fmt.Sprintf("CANOPY_WEBHOOK_ALLOW is set: requests to %v are let through to addresses that are not public", c.WebhookAllow))
	}
	if c.dev { // which fills the gaps
		return list
	}
	if !c.publicURLSet {
		list = append(list, "CANOPY_PUBLIC_URL is not set: tokens and the links in mails name "+c.PublicURL.String())
	}
	if c.BlobURL == "" {
		list = append(list, "CANOPY_BLOB_URL is not set: there is no place to keep documents, so that uploads are refused, and none that waits is processed")
	}
	if c.MonitorUser == "" {
		list = append(list, "CANOPY_MONITOR_USER and CANOPY_MONITOR_PASSWORD are not set: /monitoring/ and /metrics are closed")
	}
	return list
}
