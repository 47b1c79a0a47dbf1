package config

import (
	"slices"
	"strconv"
)

// Variable describes one setting.
type Variable struct {
	Name, Default, Meaning string
	// Example is a value that would do, for those that are required somewhere.
	Example string

	modes []Mode
}

// needed tells whether a mode does not start without the variable.
func (v Variable) needed(mode Mode) bool { return slices.Contains(v.modes, mode) }

// Variables describes every setting, in the order of the README's table.
func Variables() []Variable {
	return []Variable{
		{
			Name: "DATABASE_URL", Default: "required; dev: a private server", Meaning: "PostgreSQL 14 or newer; of several hosts (host1:5432,host2:5432) the one that takes writes",
			Example: "postgres://user:password@host:5432/name", modes: []Mode{Schema, Tool, Server, Worker},
		},
		{
			Name: "CANOPY_DATABASE_READ_URL", Default: "none",
			Meaning: "Standbys of it, which answer lists, counts, exports and the loading of search indexes while they have all that was committed: postgres://user:password@host1:5432,host2:5432/name",
		},
		{Name: "CANOPY_REGION", Default: "none: the home", Meaning: "Code of the region whose own cell this is"},
		{Name: "CANOPY_HOME_URL", Default: "none", Meaning: "The home's database, as a cell comes to it: postgres://role:password@host:5432/name; required beside CANOPY_REGION"},
		{
			Name: "CANOPY_CELL_KEY", Default: "none: 421 for what another cell has",
			Meaning: "32 bytes in base64 that sign what cells pass on to each other, the same in all of them; to replace it, several, the newest first, separated by commas",
		},
		{Name: "CANOPY_MAX_LAG", Default: "30s", Meaning: "How late a cell may know of changes at the home before it refuses callers; with ,strict (30s,strict) also while the home does not answer"},
		{Name: "CANOPY_DB_MAX_CONNS", Default: "8 for each processor, at least 16", Meaning: "Most connections to PostgreSQL that one process opens"},
		{
			Name: "REDIS_URL", Default: "required; dev: a private server",
			Meaning: "redis://, rediss://, redis-cluster://host,host or redis-sentinel://host,host/0?master=NAME",
			Example: "redis://host:6379/0", modes: []Mode{Server, Worker},
		},
		{Name: "CANOPY_LISTEN", Default: defaultListen + "; dev: " + defaultDevListen, Meaning: "Address to listen on"},
		{Name: "CANOPY_PUBLIC_URL", Default: "http://localhost:PORT", Meaning: "Where the platform is reached: the issuer of tokens, the base of links"},
		{Name: "CANOPY_PASSKEY_DOMAIN", Default: "the host of CANOPY_PUBLIC_URL", Meaning: "Domain of passkeys: that host, or a domain above it where pages are at other hosts of it; those of another domain work no more"},
		{
			Name: "CANOPY_SECRET_KEY", Default: "required; dev: made and kept",
			Meaning: "32 bytes in base64 that seal private keys, signing secrets, agents' secrets, mails and TOTP secrets at rest; to replace it, several, the newest first, separated by commas",
			Example: "what `openssl rand -base64 32` prints, the same for every process", modes: []Mode{Tool, Server, Worker},
		},
		{Name: "CANOPY_BLOB_URL", Default: "none; dev: a folder", Meaning: "Where uploaded documents are kept: file:///folder or s3://bucket?region=…"},
		{Name: "CANOPY_EMBEDDINGS_URL", Default: "the embedded model", Meaning: "OpenAI-compatible server of embeddings"},
		{Name: "CANOPY_EMBEDDINGS_API_KEY", Default: "none", Meaning: "Key for that server"},
		{Name: "CANOPY_EMBEDDINGS_MODEL", Default: "none", Meaning: "Model to ask that server for; required beside its URL"},
		{Name: "CANOPY_CHAT_URL", Default: "none", Meaning: "OpenAI-compatible server of chat completions"},
		{Name: "CANOPY_CHAT_API_KEY", Default: "none", Meaning: "Key for that server"},
		{Name: "CANOPY_CHAT_MODEL", Default: "none", Meaning: "Model to ask that server for; required beside its URL"},
		{Name: "CANOPY_RERANK_URL", Default: "none", Meaning: "Server that orders hits anew, in the form of Cohere and Jina, or without a model in that of text-embeddings-inference"},
		{Name: "CANOPY_RERANK_API_KEY", Default: "none", Meaning: "Key for that server"},
		{Name: "CANOPY_RERANK_MODEL", Default: "none", Meaning: "Model to ask that server for"},
		{Name: "CANOPY_OCR", Default: "none", Meaning: "tesseract reads the pages of PDFs that are pictures; it must be installed where worker and dev run"},
		{Name: "CANOPY_OCR_LANGUAGES", Default: defaultLanguage, Meaning: "Its models to use, comma-separated, such as eng,deu"},
		{Name: "CANOPY_SMTP_URL", Default: "none; dev: .eml files", Meaning: "Mail server: smtp://user:password@host:587?from=ADDRESS, or smtps://; without a port 465 for smtps, 587 with a password, 25 without"},
		{Name: "CANOPY_WEBHOOK_ALLOW", Default: "none", Meaning: "CIDRs exempt from the rule that webhooks go to public addresses; for tests"},
		{Name: "CANOPY_WEBHOOK_CA", Default: "none", Meaning: "PEM file of further roots for webhook deliveries"},
		{Name: "CANOPY_DNS", Default: "the system's", Meaning: "DNS server, host:port, to ask whether a company has a domain of e-mail addresses"},
		{Name: "CANOPY_MONITOR_USER", Default: "closed; dev: open", Meaning: "User of /monitoring/, /metrics and /debug/pprof/ (HTTP Basic)"},
		{Name: "CANOPY_MONITOR_PASSWORD", Default: "closed; dev: open", Meaning: "That user's password"},
		{Name: "CANOPY_RATE_LIMIT", Default: strconv.Itoa(defaultRateLimit), Meaning: "Requests a minute and API key or person, and ten times as many for a company right below the root with all below it; 0 is off"},
		{Name: "CANOPY_MAX_COST", Default: strconv.Itoa(defaultMaxCost), Meaning: "Cost of one GraphQL request; 0 is off"},
		{Name: "CANOPY_COST_LIMIT", Default: strconv.Itoa(defaultCostLimit), Meaning: "GraphQL cost a minute and API key or person, and ten times as much for a company right below the root with all below it; 0 is off"},
		{
			Name: "CANOPY_LIMITS", Default: "generous",
			Meaning: "How much a company right below the root may have, with all below it: users=1000,storageBytes=10GiB,customers=none",
		},
		{Name: "CANOPY_INTROSPECTION", Default: "on", Meaning: "GraphQL introspection: on or off"},
		{Name: "CANOPY_CORS_ORIGINS", Default: "none; dev: localhost, too", Meaning: "Origins of web front ends, comma-separated"},
		{Name: "CANOPY_PORTAL_ORIGINS", Default: "none", Meaning: "Origins of the pages that may show the portal of webhooks in a frame, comma-separated"},
		{Name: "CANOPY_TRUSTED_PROXIES", Default: "none", Meaning: "CIDRs whose X-Forwarded-For is believed, comma-separated"},
		{Name: "CANOPY_VECTOR_CACHE", Default: "256MiB; worker: 64MiB", Meaning: "Memory for search indexes, in bytes or with KiB, MiB, GiB"},
		{Name: "CANOPY_VECTOR_DISK", Default: "4GiB", Meaning: "Local disk for what of search indexes is too large for that memory, and for dense vectors; 0 is none"},
		{Name: "CANOPY_VECTOR_DIR", Default: "/var/tmp, or the system's folder for temporary files", Meaning: "Folder for it, on a local disk"},
		{
			Name: "CANOPY_VECTOR_URL", Default: "none",
			Meaning: "PostgreSQL with pgvector 0.8 or newer that gets copies of the dense vectors of large contexts, and finds in them: postgres://user:password@host:5432/name, that of DATABASE_URL or another",
		},
		{Name: "CANOPY_VECTOR_CHUNKS", Default: strconv.Itoa(defaultVectorChunks), Meaning: "From how many chunks on a context is large"},
		{Name: "CANOPY_WEBHOOK_RETENTION", Default: "30d", Meaning: "How long webhook deliveries are kept in the log: days (30d) or hours (12h)"},
		{Name: "CANOPY_RUN_RETENTION", Default: "30d", Meaning: "How long runs that have ended are kept, with the log of their steps: days or hours"},
		{Name: "CANOPY_AUDIT_RETENTION", Default: "400d", Meaning: "How long audit events are kept: days or hours; off, or 0, is for ever"},
		{Name: "CANOPY_LOG_MONTHS", Default: strconv.Itoa(defaultMonthsFrom), Meaning: "From how many rows on a log is changed over to months, which are dropped whole; off is never"},
		{Name: "CANOPY_ERASE_AFTER", Default: "30d", Meaning: "How long a deleted company can be restored before it is erased: days or hours"},
		{Name: "CANOPY_MAX_IMPORT", Default: "10GiB", Meaning: "Size of an archive that is uploaded to be read in, in bytes or with KiB, MiB, GiB"},
		{Name: "OTEL_EXPORTER_OTLP_ENDPOINT", Default: "none", Meaning: "Where traces and metrics are sent over OTLP; other OTEL_ variables are the standard's"},
		{Name: "OTEL_EXPORTER_OTLP_PROTOCOL", Default: "http/protobuf", Meaning: "How: http/protobuf or grpc"},
		{Name: "OTEL_EXPORTER_OTLP_HEADERS", Default: "none", Meaning: "Headers that the receiver asks for, such as authorization=Bearer%20…"},
		{Name: "CANOPY_DRAIN", Default: "5s; dev: 0", Meaning: "How long serve goes on after SIGTERM, with /readyz 503, until balancers have noticed; at most 10m"},
	}
}
