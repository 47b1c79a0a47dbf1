package db

import (
	"context"
	"time"
)

const (
	// KeptFor is how long a caller's idempotency key, and what was answered under it, is kept.
	KeptFor = 24 * time.Hour
	// ClaimLease is how long a claim holds that nobody extends: so long a request waits whose process was killed.
	ClaimLease = 30 * time.Second
	// maxKeptOfCaller and maxKeptOfBranch bound what is kept, in bytes; a key counts about 600, and its answer.
	maxKeptOfCaller = 64 << 20
	maxKeptOfBranch = 10 * maxKeptOfCaller
)

// IdempotencyKey is a caller's key, with what became of the request under it.
type IdempotencyKey struct {
	ID string `db:"id"`
	// Caller is the credential, BranchID the branch that the key counts for.
	Caller     string `db:"caller"`
	BranchID   int64  `db:"branch_id"`
	CustomerID int64  `db:"customer_id"`
	UserID     int64  `db:"user_id"`
	// Request is the sealed hash of what was asked for, Answer what was answered, sealed; nil where that is not known.
	Request []byte `db:"request"`
	Answer  []byte `db:"answer"`
	// Attempt counts the claims. Whoever writes for an earlier one finds no row.
	Attempt int `db:"attempt"`
	// Leased: somebody is at work on it. Changed: a change was committed. Old: it is forgotten soon, and may be claimed anew.
	Leased  bool `db:"leased"`
	Changed bool `db:"changed"`
	Old     bool `db:"old"`
	// Made: it was claimed by this very look.
	Made bool `db:"made"`
}

// foundKey reads a key by its id, the first argument; keys are kept for as many seconds as the second says.
const foundKey = `
	SELECT id, request, answer, attempt, leased_until >= now() AS leased, changed_at IS NOT NULL AS changed,
		created_at < now() - $2 * interval '1 second' AS old
	FROM idempotency_keys WHERE id = $1::text`

var (
	// It waits for nobody who is at work on the key, which ON CONFLICT by itself would.
	qClaimKey = prepare(`
		WITH found AS MATERIALIZED (` + foundKey + `),
			made AS (INSERT INTO idempotency_keys (id, caller, branch_id, customer_id, user_id, request, leased_until)
				SELECT $1, $3::text, $4::bigint, $5::bigint, $6::bigint, $7::bytea, now() + $8 * interval '1 second'
				WHERE NOT EXISTS (SELECT FROM found)
					AND (SELECT COALESCE(sum(bytes), 0) FROM idempotency_bytes WHERE owner = $3::text) < $9
					AND (SELECT COALESCE(sum(bytes), 0) FROM idempotency_bytes WHERE owner = 'branch:' || $4::bigint) < $10
				ON CONFLICT (id) DO NOTHING RETURNING id, request, attempt)
		SELECT *, false AS made FROM found
		UNION ALL SELECT id, request, NULL, attempt, true, false, false, true FROM made`)
	qIdempotencyKey = prepare(foundKey)
	// One that is old begins anew; otherwise nobody may be at work on it, and nothing may have been changed.
	qReclaimKey = prepare(`
		UPDATE idempotency_keys t SET attempt = attempt + 1, request = $3, answer = NULL, changed_at = NULL, leased_until = now() + $4 * interval '1 second',
			created_at = CASE WHEN created_at < now() - $5 * interval '1 second' THEN now() ELSE created_at END
		FROM (SELECT id AS free FROM idempotency_keys
			WHERE id = $1 AND attempt = $2 AND (created_at < now() - $5 * interval '1 second'
				OR leased_until < now() AND changed_at IS NULL AND answer IS NULL) FOR UPDATE SKIP LOCKED) k
		WHERE t.id = k.free RETURNING attempt`)
	qExtendClaim = prepare(`UPDATE idempotency_keys SET leased_until = now() + $3 * interval '1 second' WHERE id = $1 AND attempt = $2`)
	qMarkChanged = prepare(`
		UPDATE idempotency_keys k SET changed_at = COALESCE(k.changed_at, now()) WHERE k.id = $1 AND k.attempt = $2
			AND NOT EXISTS (SELECT FROM users u WHERE u.id = k.user_id AND u.erased_at IS NOT NULL OFFSET 0)`)
	qKeepAnswer   = prepare(`UPDATE idempotency_keys SET answer = $3, leased_until = now() WHERE id = $1 AND attempt = $2`)
	qReleaseClaim = prepare(`DELETE FROM idempotency_keys WHERE id = $1 AND attempt = $2 AND changed_at IS NULL`)
	qEndClaim     = prepare(`UPDATE idempotency_keys SET leased_until = now() WHERE id = $1 AND attempt = $2`)
	qDropKeptOf   = prepare(`DELETE FROM idempotency_keys WHERE user_id = $1`)
	qDropIdleOf   = prepare(`DELETE FROM idempotency_keys WHERE id = ANY (ARRAY(SELECT id FROM idempotency_keys WHERE user_id = $1 FOR UPDATE SKIP LOCKED))`)
	qForgetKept   = prepare(`
		DELETE FROM idempotency_keys WHERE id = ANY (ARRAY(
			SELECT id FROM idempotency_keys WHERE created_at < now() - $1 * interval '1 second' ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED))`)
	qForgetKeptBytes = prepare(`DELETE FROM idempotency_bytes WHERE bytes = 0`)
)

// ClaimKey claims a key that nobody has used, for a while, or gives it as it is. ErrNoRows: the caller's or its branch's room is used up,
// or somebody claims it at the same moment.
func (s *Store) ClaimKey(ctx context.Context, k IdempotencyKey, lease time.Duration) (*IdempotencyKey, error) {
	found := &IdempotencyKey{}
	err := s.get(ctx, found, qClaimKey, k.ID, KeptFor.Seconds(), k.Caller, k.BranchID, k.CustomerID, k.UserID, k.Request,
		lease.Seconds(), maxKeptOfCaller, maxKeptOfBranch)
	return found, err
}

// IdempotencyKey finds a key; ErrNoRows where it was not used.
func (s *Store) IdempotencyKey(ctx context.Context, id string) (*IdempotencyKey, error) {
	k := &IdempotencyKey{}
	return k, s.get(ctx, k, qIdempotencyKey, id, KeptFor.Seconds())
}

// ReclaimKey claims a key again, for a while, after the attempt that it was found with. ErrNoRows: somebody was faster, or it is done.
func (s *Store) ReclaimKey(ctx context.Context, id string, after int, request []byte, lease time.Duration) (attempt int, err error) {
	err = s.get(ctx, &attempt, qReclaimKey, id, after, request, lease.Seconds(), KeptFor.Seconds())
	return attempt, err
}

// ExtendClaim holds on to a claim.
func (s *Store) ExtendClaim(ctx context.Context, id string, attempt int) error {
	return s.must(ctx, qExtendClaim, id, attempt, ClaimLease.Seconds())
}

// MarkChanged writes down, in the transaction of a change, that it was made under a claim. ErrNoRows: somebody else has
// claimed the key meanwhile, or the person was erased, of whom nothing may be kept: the change must not be made.
func (s *Store) MarkChanged(ctx context.Context, id string, attempt int) error {
	return s.must(ctx, qMarkChanged, id, attempt)
}

// KeepAnswer ends a claim with the sealed answer.
func (s *Store) KeepAnswer(ctx context.Context, id string, attempt int, answer []byte) error {
	_, err := s.exec(ctx, qKeepAnswer, id, attempt, answer)
	return err
}

// ReleaseClaim ends a claim without an answer: the key is as if it had not been used, unless something was changed under it.
func (s *Store) ReleaseClaim(ctx context.Context, id string, attempt int) error {
	n, err := s.exec(ctx, qReleaseClaim, id, attempt)
	if err == nil && n == 0 {
		err = s.EndClaim(ctx, id, attempt)
	}
	return err
}

// EndClaim ends a claim without an answer, and the key stays that of its request.
func (s *Store) EndClaim(ctx context.Context, id string, attempt int) error {
	_, err := s.exec(ctx, qEndClaim, id, attempt)
	return err
}

// DropKeptOf deletes the keys of a user. It waits for what is done under one of them: EraseUser, which holds the user, passes by those, as they may wait for the user.
func (s *Store) DropKeptOf(ctx context.Context, userID int64) error {
	_, err := s.exec(ctx, qDropKeptOf, userID)
	return err
}

// ForgetKept deletes keys that are older than KeptFor, at most limit of them, and tells how many.
func (s *Store) ForgetKept(ctx context.Context, limit int) (int64, error) {
	n, err := s.exec(ctx, qForgetKept, KeptFor.Seconds(), limit)
	if err == nil && n < int64(limit) {
		_, err = s.exec(ctx, qForgetKeptBytes)
	}
	return n, err
}
