package db

import (
	"context"
	"fmt"
	"strings"

	"github.com/lib/pq"

	"canopy/internal/secret"
)

// SealedColumn is a column whose values are sealed with the platform's secret key. K is the type of its
// rows' key.
type SealedColumn[K int64 | string] struct {
	name string
	// purpose is what a row's value is sealed for. It holds the row's key, so that a value can't be moved to
	// another row, unless the value is sealed before its row has one.
	purpose     func(K) string
	read, write query
}

// All that is sealed, column by column: values are sealed and opened by these alone, and a new secret key
// reaches each of them. A next signing secret becomes the one in force, never the other way round, so it
// is sealed anew before that.
var (
	SealedOTPSecrets         = sealedColumn("users", "id", "otp_secret", forRow[int64]("totp:"))
	SealedNextSigningSecrets = sealedColumn("webhook_destinations", "id", "next_secret", forRow[int64]("webhook secret "))
	SealedSigningSecrets     = sealedColumn("webhook_destinations", "id", "secret", forRow[int64]("webhook secret "))
	SealedAgentSecrets       = sealedColumn("secrets", "id", "value", forRow[int64]("agent secret "))
	// A restored secret is sealed anew, so that none escapes between the two.
	SealedRemovedSecrets  = sealedColumn("removed_secrets", "id", "value", forRow[int64]("agent secret "))
	SealedSessionKeys     = sealedColumn("sessions", "id", "key", forRow[int64]("session "))
	SealedProviderSecrets = sealedColumn("identity_providers", "id", "client_secret", forRow[int64]("identity provider "))
	SealedIDTokens        = sealedColumn("provider_sessions", "session_id", "id_token", forRow[int64]("id token "))
	SealedRequests        = sealedColumn("idempotency_keys", "id", "request", forRow[string]("request "))
	SealedAnswers         = sealedColumn("idempotency_keys", "id", "answer", forRow[string]("answer "))
	SealedMails           = sealedColumn("mail_outbox", "id", "message", func(int64) string { return "mail" })
	SealedPrivateKeys     = sealedColumn("signing_keys", "kid", "private_key", forRow[string]("signing key "))
)

var sealedColumns []interface {
	Name() string
	renew(ctx context.Context, s *Store, box *secret.Box, told func(Renewal)) (Renewal, error)
}

func forRow[K int64 | string](what string) func(K) string {
	return func(key K) string { return what + fmt.Sprint(key) }
}

func sealedColumn[K int64 | string](table, key, column string, purpose func(K) string) *SealedColumn[K] {
	array := "bigint[]"
	if _, text := any(*new(K)).(string); text {
		array = "text[]"
	}
	c := &SealedColumn[K]{
		name: table + "." + column, purpose: purpose,
		read: prepare(fmt.Sprintf(`SELECT %s AS key, COALESCE(%s, '') AS value FROM %s WHERE %[1]s > $1 ORDER BY %[1]s LIMIT $2`, key, column, table)),
		// What was written meanwhile is left alone, and so is what somebody holds: nobody waits for long, and
		// no two wait for each other.
		write: prepare(fmt.Sprintf(`
			UPDATE %[3]s t SET %[2]s = held.renewed
			FROM (SELECT t.%[1]s AS key, d.renewed FROM unnest($1::%[4]s, $2::bytea[], $3::bytea[]) d(key, was, renewed)
				JOIN %[3]s t ON t.%[1]s = d.key WHERE t.%[2]s = d.was FOR UPDATE OF t SKIP LOCKED) held
			WHERE t.%[1]s = held.key`, key, column, table, array)),
	}
	sealedColumns = append(sealedColumns, c)
	return c
}

// Name is the table's and the column's.
func (c *SealedColumn[K]) Name() string { return c.name }

// Seal seals the value of a row.
func (c *SealedColumn[K]) Seal(box *secret.Box, key K, plain []byte) []byte {
	return box.Seal(plain, c.purpose(key))
}

// Open opens the value of a row. The error names the row, and is secret.ErrSealed.
func (c *SealedColumn[K]) Open(box *secret.Box, key K, sealed []byte) ([]byte, error) {
	plain, err := box.Open(sealed, c.purpose(key))
	if err != nil {
		return nil, fmt.Errorf("no key of CANOPY_SECRET_KEY opens %s of %v: %w", c.name, key, err)
	}
	return plain, nil
}

// SealedLink is what a link carries, sealed, and is kept nowhere: it ends before a new secret key leaves it behind.
type SealedLink string

// The links to the archives of exports, and to the originals of documents, what a browser keeps while its person signs in elsewhere, and what
// it gives back with an authenticator's answer: of a new passkey, or of one that is used.
const (
	SealedExportLinks   SealedLink = "link to an export"
	SealedOriginalLinks SealedLink = "link to an original"
	SealedSignIns       SealedLink = "sign-in at a provider"
	SealedNewPasskeys   SealedLink = "a new passkey"
	SealedPasskeyUses   SealedLink = "passkey in use"
)

// Seal seals what a link carries.
func (l SealedLink) Seal(box *secret.Box, plain []byte) []byte { return box.Seal(plain, string(l)) }

// Open opens it. The error is secret.ErrSealed.
func (l SealedLink) Open(box *secret.Box, sealed []byte) ([]byte, error) {
	return box.Open(sealed, string(l))
}

// Renewal is what a walk through a column has come to.
type Renewal struct {
	Column string
	// Rows were looked at; Renewed of their values were sealed anew; Busy ones were being changed at the
	// moment, and are still sealed with an older key.
	Rows, Renewed, Busy int
	// Lost tells how many values no key opens, and which is the first.
	Lost      int
	FirstLost string
}

// renewedRows is how many rows are looked at in one statement, and at most held by another.
const renewedRows = 500

// RenewSealed walks through all that is sealed and seals anew, with the newest key, what an older one has
// sealed. told hears of each batch, with what its column has come to so far; the result has each column's.
// It may run beside anything, and stop anywhere. A cell has its own columns sealed anew: those of the directory come from the home.
func (s *Store) RenewSealed(ctx context.Context, box *secret.Box, told func(Renewal)) (all []Renewal, err error) {
	for _, c := range sealedColumns {
		table, _, _ := strings.Cut(c.Name(), ".")
		if kind := places[table].kind; s.cell != nil && (kind == directory || kind == homeOnly) {
			continue
		}
		r, err := c.renew(ctx, s, box, told)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// sealedRow is a row's key and sealed value, which is empty where there is none.
type sealedRow[K int64 | string] struct {
	Key   K      `db:"key"`
	Value []byte `db:"value"`
}

func (c *SealedColumn[K]) renew(ctx context.Context, s *Store, box *secret.Box, told func(Renewal)) (Renewal, error) {
	r := Renewal{Column: c.name}
	var after K // before every key
	for {
		var rows []sealedRow[K]
		if err := s.list(ctx, &rows, c.read, after, renewedRows); err != nil || len(rows) == 0 {
			return r, err
		}
		if err := c.renewBatch(ctx, s, box, rows, &r); err != nil {
			return r, err
		}
		told(r)
		after = rows[len(rows)-1].Key
	}
}

func (c *SealedColumn[K]) renewBatch(ctx context.Context, s *Store, box *secret.Box, rows []sealedRow[K], r *Renewal) error {
	var keys []K
	var was, renewed pq.ByteaArray
	for _, row := range rows {
		r.Rows++
		if len(row.Value) == 0 {
			continue
		}
		value, err := box.Renew(row.Value, c.purpose(row.Key))
		switch {
		case err != nil && r.Lost > 0:
			r.Lost++
		case err != nil:
			r.Lost, r.FirstLost = 1, fmt.Sprint(row.Key)
		case value != nil:
			keys, was, renewed = append(keys, row.Key), append(was, row.Value), append(renewed, value)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	n, err := s.exec(ctx, c.write, keys, was, renewed)
	r.Renewed += int(n)
	r.Busy += len(keys) - int(n)
	return err
}
