package platform

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/alexedwards/argon2id"
	"github.com/lib/pq"

	"canopy/db"
	"canopy/internal/app"
	"canopy/internal/devstack/devtest"
)

// demoDatabase is a database with the demo data: a copy of one that the first test of a run fills. Its
// credentials are the comment on its schema.
func demoDatabase(t testing.TB) string {
	t.Helper()
	fingerprint, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	return devtest.Database(t, fingerprint, func(ctx context.Context, url string) error { return fillNumbered(ctx, t, url) })
}

// lastCell is where the ids begin that the last cell makes of what companies have (docs/decisions/cells.md): whoever holds one in 32 bits, or in a number of
// less than 53, fails here. Ids of the directory and the home are as small as ever.
const lastCell int64 = db.LastCell * db.IDsOfCell

func number(ctx context.Context, url string) error {
	c, err := sql.Open("postgres", url)
	if err != nil {
		return err
	}
	_, err = c.ExecContext(ctx, `SELECT setval(quote_ident(sequencename)::regclass, $1) FROM pg_sequences
		WHERE schemaname = 'public' AND data_type = 'bigint'::regtype AND sequencename !~
			'^(regions|applications|app_instances|customers|instance_account|accounts|users|roles|permissions|billing_location|api_keys|api_key_secrets|sessions|invitations|identity_providers|domain_claims|user_identities|scim_tokens|passkeys|import_requests|usage_counts_slot)_ids?'`, lastCell)
	return errors.Join(err, c.Close())
}

// fillNumbered is fillDemo with ids as high as they get.
func fillNumbered(ctx context.Context, t testing.TB, url string) error {
	t.Helper()
	if err := db.Migrate(ctx, url); err != nil {
		return err
	}
	if err := number(ctx, url); err != nil {
		return err
	}
	return fillDemo(ctx, t, url)
}

// fillDemo makes the demo data in a database that has the schema and nothing else.
func fillDemo(ctx context.Context, t testing.TB, url string) error {
	t.Helper()
	cfg := settings(t, "http://127.0.0.1")
	cfg.DatabaseURL = url
	p, err := app.Open(ctx, cfg, app.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer p.Close()
	var made app.Demo
	if err := p.MakeDemo(ctx, func(d app.Demo) error { made = d; return nil }); err != nil {
		return err
	}
	c, err := sql.Open("postgres", url)
	if err != nil {
		return err
	}
	return errors.Join(keepCredentials(ctx, c, made), cheapen(ctx, c, made), c.Close())
}

func keepCredentials(ctx context.Context, c *sql.DB, made app.Demo) error {
	raw, err := json.Marshal(made)
	if err != nil {
		return err
	}
	_, err = c.ExecContext(ctx, `COMMENT ON SCHEMA public IS `+pq.QuoteLiteral(string(raw)))
	return err
}

// cheapen has the demo's one password checked at little cost, which is written in its hash: the logins of many tests begin
// with it. Passwords that tests set, and those of nobody, are hashed as ever.
func cheapen(ctx context.Context, c *sql.DB, made app.Demo) error {
	hash, err := argon2id.CreateHash(made.AdminPassword, &argon2id.Params{Memory: 8, Iterations: 1, Parallelism: 1, SaltLength: 16, KeyLength: 32})
	if err != nil {
		return err
	}
	_, err = c.ExecContext(ctx, `UPDATE users SET password_hash = $1 WHERE lower(email) = lower($2)`, hash, made.AdminEmail)
	return err
}

// credentials are those that the platform's demo data were made with.
func (s *Platform) credentials() (d app.Demo) {
	s.T.Helper()
	var raw []byte
	s.Look(&raw, `SELECT obj_description('public'::regnamespace, 'pg_namespace')`)
	if err := json.Unmarshal(raw, &d); err != nil {
		s.T.Fatal(err)
	}
	return d
}

// sources stands for everything that the demo data come of: the programs' texts. A server that outlives
// a run would serve those of another program otherwise.
var sources = sync.OnceValues(func() (string, error) {
	sum := sha256.New()
	for _, room := range []string{"db", "resolvers", "outbox", "internal"} {
		err := filepath.WalkDir(filepath.Join("../..", room), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, ".sql") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			_, _ = sum.Write(text) // never fails, by its documentation
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
})
