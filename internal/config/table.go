package config

// Variable describes one setting.
type Variable struct{ Name, Default, Meaning string }

// Variables describes every setting, in the order of the README's table.
func Variables() []Variable {
	return []Variable{
		{"DATABASE_URL", "private server in dev", "PostgreSQL 14 or newer: postgres://user:password@host:5432/name"},
		{"REDIS_URL", "private server in dev", "redis://, rediss://, redis-cluster:// or redis-sentinel://"},
		{"CANOPY_LISTEN", ":8080; dev: 127.0.0.1:8080", "Address to listen on"},
		{"CANOPY_PUBLIC_URL", "http://localhost:PORT", "Where the platform is reached: issuer of tokens, base of links"},
		{"CANOPY_SECRET_KEY", "made and kept in dev", "32 bytes in base64; seals private keys, TOTP and signing secrets at rest"},
		{"CANOPY_BLOB_URL", "file store in dev", "Where uploaded documents are kept: file:///… or s3://…"},
		{"CANOPY_EMBEDDINGS_URL, _API_KEY, _MODEL", "embedded model", "OpenAI-compatible server of embeddings"},
		{"CANOPY_CHAT_URL, _API_KEY, _MODEL", "none", "OpenAI-compatible server of chat completions"},
		{"CANOPY_SMTP_URL", "files in dev", "Mail server: smtp://user:password@host:587?from=ADDRESS"},
		{"CANOPY_WEBHOOK_ALLOW", "none", "CIDRs exempt from the public-address rule of webhooks; for tests"},
		{"CANOPY_WEBHOOK_CA", "none", "PEM file of further roots for webhook deliveries"},
		{"CANOPY_MONITOR_USER, _PASSWORD", "closed; open in dev", "HTTP Basic for /monitoring/ and /metrics"},
		{"CANOPY_RATE_LIMIT", "6000", "Requests a minute and API key; 0 is off"},
		{"CANOPY_MAX_COST", "50000", "Cost of one GraphQL request; 0 is off"},
		{"CANOPY_COST_LIMIT", "600000", "GraphQL cost a minute and API key; 0 is off"},
		{"CANOPY_INTROSPECTION", "on", "GraphQL introspection"},
		{"CANOPY_CORS_ORIGINS", "none", "Origins of web front ends, comma-separated"},
		{"CANOPY_TRUSTED_PROXIES", "none", "CIDRs whose X-Forwarded-For is believed"},
		{"CANOPY_VECTOR_CACHE", "268435456", "Bytes of memory for search indexes"},
		{"CANOPY_WEBHOOK_RETENTION", "30d", "How long deliveries are kept in the log"},
	}
}
