package db

import (
	"context"
	"time"
)

// OutboxMail is a mail on its way out. Message is sealed.
type OutboxMail struct {
	ID       int64     `db:"id"`
	Kind     string    `db:"kind"`
	Message  []byte    `db:"message"`
	Attempts int       `db:"attempts"`
	Created  time.Time `db:"created_at"`
	// Traceparent leads to what the mail comes from; nil where that was not told.
	Traceparent *string `db:"traceparent"`
}

var (
	qInsertMail = prepare(`
		WITH counted AS MATERIALIZED (SELECT count_from('mailsPerDay', (now() AT TIME ZONE 'UTC')::date, ARRAY[$5::bigint], ARRAY[1]::bigint[]) WHERE $5::bigint > 0)
		INSERT INTO mail_outbox (branch_id, user_id, kind, message) SELECT $1, NULLIF($2::bigint, 0), $3, $4 FROM (SELECT count(*) FROM counted) c RETURNING id`)
	qHoldUser   = prepare(`SELECT id FROM users WHERE id = $1 FOR NO KEY UPDATE`)
	qMailsToday = prepare(`SELECT count(*) FROM mail_outbox WHERE user_id = $1 AND kind = $2 AND created_at > now() - interval '1 day'`)
	// A mail that is handed to the queue is out of sight for the lease; if the queue loses it, it
	// is due again afterwards.
	qLeaseMails = work{
		table: "mail_outbox", open: "sent_at IS NULL AND failed_at IS NULL", handedOut: "handed_out", due: "next_attempt_at",
		first: "next_attempt_at", size: "id", window: "1", set: ", handed_out = true", count: "attempts",
	}.leased()
	// A mail whose attempt has begun meanwhile has another count, and is left alone.
	qReleaseMails = prepare(`
		UPDATE mail_outbox m SET next_attempt_at = now() FROM unnest($1::bigint[], $2::integer[]) d(id, attempts)
		WHERE m.id = ANY($1) AND m.id = d.id AND m.attempts = d.attempts AND ` + unindexed("m.sent_at IS NULL AND m.failed_at IS NULL"))
	qClaimMail = prepare(`
		UPDATE mail_outbox SET attempts = attempts + 1, next_attempt_at = now() + $2 * interval '1 second'
		WHERE id = $1 AND attempts = $3 AND ` + unindexed("sent_at IS NULL AND failed_at IS NULL") + `
		RETURNING id, kind, message, attempts, created_at, traceparent`)
	qMailSent = prepare(`UPDATE mail_outbox SET sent_at = now(), message = '', last_error = '' WHERE id = $1`)
	qMailLate = prepare(`
		UPDATE mail_outbox SET handed_out = false, next_attempt_at = now() + $2 * interval '1 second', last_error = $3 WHERE id = $1 AND sent_at IS NULL`)
	qMailFailed  = prepare(`UPDATE mail_outbox SET failed_at = now(), message = '', last_error = $2 WHERE id = $1 AND sent_at IS NULL`)
	qMailBacklog = backlog("mail_outbox", "next_attempt_at", `sent_at IS NULL AND failed_at IS NULL`)
	qSweepMails  = prepare(`DELETE FROM mail_outbox WHERE COALESCE(sent_at, failed_at) < now() - interval '30 days'`)
)

// InsertMail puts a sealed mail into the outbox, as work of a branch; 0 stands for the one that the user
// has belonged to longest, and userID 0 for nobody in particular. It counts among the mails of the company that
// has asked for it, unless that is 0.
func (s *Store) InsertMail(ctx context.Context, branchID, userID, askedBy int64, kind string, message []byte) (id int64, err error) {
	err = s.get(ctx, &id, qInsertMail, branchID, userID, kind, message, askedBy)
	return id, err
}

// MailsToday counts the mails of a kind to a user in the last 24 hours, and keeps others from counting until the
// transaction ends.
func (s *Store) MailsToday(ctx context.Context, userID int64, kind string) (n int, err error) {
	var held int64
	if err := s.get(ctx, &held, qHoldUser, userID); err != nil {
		return 0, err
	}
	err = s.get(ctx, &n, qMailsToday, userID, kind)
	return n, err
}

// DueMail names a mail and how many attempts were made on it.
type DueMail struct {
	ID       int64 `db:"id" json:"id"`
	Attempts int   `db:"attempts" json:"attempts"`
}

// LeaseMails hands out due mails by turns of branches, for the lease, so that no more than so many are
// handed out or sent at the same time.
func (s *Store) LeaseMails(ctx context.Context, places int, lease time.Duration) ([]DueMail, error) {
	return handOut[DueMail](ctx, s, qLeaseMails, places, lease)
}

// ReleaseMails ends the lease of mails that could not be handed on: they are due again.
func (s *Store) ReleaseMails(ctx context.Context, due []DueMail) error {
	return release(ctx, s, qReleaseMails, due, func(d DueMail) (int64, int) { return d.ID, d.Attempts })
}

// ClaimMail begins the next attempt on a mail; ErrNoRows when it is done, or another worker has
// begun that attempt.
func (s *Store) ClaimMail(ctx context.Context, due DueMail, lease time.Duration) (*OutboxMail, error) {
	m := &OutboxMail{}
	err := s.get(ctx, m, qClaimMail, due.ID, lease.Seconds(), due.Attempts)
	return m, err
}

// MailSent ends a mail well and empties it.
func (s *Store) MailSent(ctx context.Context, id int64) error { return s.must(ctx, qMailSent, id) }

// MailLate puts a mail off until after the wait.
func (s *Store) MailLate(ctx context.Context, id int64, wait time.Duration, reason string) error {
	_, err := s.exec(ctx, qMailLate, id, wait.Seconds(), reason)
	return err
}

// MailFailed gives a mail up and empties it.
func (s *Store) MailFailed(ctx context.Context, id int64, reason string) error {
	_, err := s.exec(ctx, qMailFailed, id, reason)
	return err
}

// MailBacklog tells of the mails that are due, counting no further than 100,000.
func (s *Store) MailBacklog(ctx context.Context) (b Backlog, err error) {
	err = s.get(ctx, &b, qMailBacklog)
	return b, err
}

// SweepMails forgets mails that have been out, or given up, for a month.
func (s *Store) SweepMails(ctx context.Context) error {
	_, err := s.exec(ctx, qSweepMails)
	return err
}
