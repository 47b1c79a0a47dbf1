package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/hibiken/asynq"

	"canopy/db"
	"canopy/internal/mail"
	"canopy/internal/secret"
	"canopy/internal/telemetry"
	"canopy/outbox"
)

// How long a mail server may be away before a mail is given up, and the waits between attempts.
const (
	mailLife    = 7 * 24 * time.Hour
	mailTimeout = time.Minute
	mailMinWait = 2 * time.Second
	mailMaxWait = 15 * time.Minute
)

// mailer sends the mails of the outbox.
type mailer struct {
	store   *db.Store
	box     *secret.Box
	sender  mail.Sender
	metrics *Metrics
	trace   *telemetry.Telemetry
	log     *slog.Logger
}

// ProcessTask makes one attempt on a mail. What comes of it is written to the mail's row, and told to
// the queue.
func (m *mailer) ProcessTask(ctx context.Context, t *asynq.Task) (err error) {
	var due db.DueMail
	if err := json.Unmarshal(t.Payload(), &due); err != nil {
		return fmt.Errorf("payload: %w", err)
	}
	row, err := m.store.ClaimMail(ctx, due, 2*mailTimeout)
	if errors.Is(err, db.ErrNoRows) {
		return sayNothingToDo(t)
	}
	if err != nil {
		return err
	}
	ctx, span := m.trace.Root(ctx, orEmpty(row.Traceparent), "mail "+row.Kind, telemetry.Consumer, telemetry.Number("canopy.mail", row.ID),
		telemetry.Number("canopy.attempt", int64(row.Attempts)))
	defer func() { span.End(err) }()
	message, err := outbox.OpenMail(m.box, row)
	if err != nil {
		return errors.Join(err, m.store.MailLate(ctx, row.ID, mailMaxWait, err.Error()))
	}
	message.ID = fmt.Sprintf("%d.%d", row.ID, row.Created.UnixMilli())
	sending, cancel := context.WithTimeout(ctx, mailTimeout)
	defer cancel()
	if err = m.record(context.WithoutCancel(ctx), row, m.sender.Send(sending, message)); err != nil {
		return err
	}
	say(t, "The mail server took the mail.")
	return nil
}

// record writes down what came of an attempt; an error says that the mail did not get out.
func (m *mailer) record(ctx context.Context, row *db.OutboxMail, err error) error {
	switch {
	case err == nil:
		m.metrics.count(ofMails, mailSent)
		return m.store.MailSent(ctx, row.ID)
	case mail.IsPermanent(err), time.Since(row.Created) > mailLife:
		m.log.ErrorContext(ctx, "a mail was given up", "mail", row.ID, "kind", row.Kind, "attempts", row.Attempts, "error", err)
		m.metrics.count(ofMails, mailFailed)
		return errors.Join(missedf("The mail was given up at attempt %d: its row tells why.", row.Attempts), m.store.MailFailed(ctx, row.ID, err.Error()))
	}
	wait := min(mailMinWait<<min(row.Attempts-1, 20), mailMaxWait)
	m.log.WarnContext(ctx, "a mail did not get out; it is tried again", "mail", row.ID, "attempts", row.Attempts, "wait", wait, "error", err)
	m.metrics.count(ofMails, mailLate)
	return errors.Join(missedf("The mail did not get out: its row tells why. It is tried again in %v.", wait), m.store.MailLate(ctx, row.ID, wait, err.Error()))
}
