package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"canopy/db"
	"canopy/internal/bus"
	"canopy/internal/devstack/devtest"
	"canopy/internal/mail"
	"canopy/internal/redisconn"
	"canopy/internal/roster"
	"canopy/outbox"
)

// box takes mails, or answers with the errors it was given first.
type box struct {
	mu     sync.Mutex
	errors []error
	got    []mail.Message
}

// Send takes a mail.
func (b *box) Send(_ context.Context, m mail.Message) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.errors) > 0 {
		err := b.errors[0]
		b.errors = b.errors[1:]
		return err
	}
	b.got = append(b.got, m)
	return nil
}

func (b *box) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.got)
}

func (r *room) post(t *testing.T, to string) int64 {
	t.Helper()
	sealed, err := outbox.SealMail(r.box, mail.Message{To: to, Subject: "Hello", Text: "secret link", HTML: "<p>secret link</p>"})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(sealed), "secret") {
		t.Error("a mail lies open in the outbox")
	}
	id, err := r.store.InsertMail(t.Context(), 0, 0, 0, "test", sealed)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// process hands a mail to a mailer as the queue would.
func (r *room) process(t *testing.T, sender mail.Sender, due db.DueMail) error {
	t.Helper()
	payload, err := json.Marshal(due)
	if err != nil {
		t.Fatal(err)
	}
	return (&mailer{store: r.store, box: r.box, sender: sender, log: r.log}).ProcessTask(t.Context(), asynq.NewTask(typeMail, payload))
}

// isMissed tells that the queue is told of a mail that did not get out, in words without a name.
func isMissed(err error) bool {
	var m missed
	return errors.As(err, &m) && !strings.Contains(err.Error(), "@") && !strings.Contains(err.Error(), "no route")
}

func TestMailAttempts(t *testing.T) {
	r := newRoom(t)
	t.Run("sent once, whoever asks twice", func(t *testing.T) {
		id, b := r.post(t, "once@x.example"), &box{}
		for range 3 {
			if err := r.process(t, b, db.DueMail{ID: id}); err != nil {
				t.Fatal(err)
			}
		}
		if b.count() != 1 || b.got[0].Text != "secret link" || b.got[0].ID == "" {
			t.Errorf("%+v", b.got)
		}
		if r.number(t, `SELECT count(*) FROM mail_outbox WHERE id = $1 AND sent_at IS NOT NULL AND message = ''`, id) != 1 {
			t.Error("the row was not emptied")
		}
	})
	t.Run("put off longer and longer", func(t *testing.T) {
		id := r.post(t, "late@x.example")
		waits := []int64{2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900}
		for n, want := range waits {
			if err := r.process(t, &box{errors: []error{errors.New("no route")}}, db.DueMail{ID: id, Attempts: n}); !isMissed(err) {
				t.Fatal(err)
			}
			if got := r.number(t, `SELECT round(extract(epoch FROM next_attempt_at - now())) FROM mail_outbox WHERE id = $1 AND last_error = 'no route'`, id); got > want || got < want-2 {
				t.Errorf("after attempt %d it waits for %d s, want %d", n+1, got, want)
			}
		}
		b := &box{}
		if err := r.process(t, b, db.DueMail{ID: id, Attempts: len(waits)}); err != nil || b.count() != 1 {
			t.Errorf("%v, %d mails", err, b.count())
		}
	})
	t.Run("given up after a week", func(t *testing.T) {
		id := r.post(t, "old@x.example")
		r.sql(t, `UPDATE mail_outbox SET created_at = now() - interval '169 hours' WHERE id = $1`, id)
		if err := r.process(t, &box{errors: []error{errors.New("no route")}}, db.DueMail{ID: id}); !isMissed(err) || !strings.Contains(err.Error(), "given up at attempt 1:") {
			t.Fatal(err)
		}
		if r.number(t, `SELECT count(*) FROM mail_outbox WHERE id = $1 AND failed_at IS NOT NULL AND message = ''`, id) != 1 {
			t.Error("not given up")
		}
	})
	t.Run("refused for good", func(t *testing.T) {
		id := r.post(t, "a@x.example")
		_, err := mail.NewSMTP("smtp://localhost")
		if err != nil {
			t.Fatal(err)
		}
		sender, err := mail.NewSMTP("smtp://127.0.0.1:1")
		if err != nil {
			t.Fatal(err)
		}
		permanent := sender.Send(t.Context(), mail.Message{To: "not an address"})
		if !mail.IsPermanent(permanent) {
			t.Fatal(permanent)
		}
		if err := r.process(t, &box{errors: []error{permanent}}, db.DueMail{ID: id}); !isMissed(err) {
			t.Fatal(err)
		}
		if r.number(t, `SELECT count(*) FROM mail_outbox WHERE id = $1 AND failed_at IS NOT NULL AND message = '' AND last_error <> ''`, id) != 1 {
			t.Error("not given up")
		}
	})
	t.Run("a task that is no task", func(t *testing.T) {
		if err := (&mailer{store: r.store, box: r.box, sender: &box{}, log: r.log}).ProcessTask(t.Context(), asynq.NewTask(typeMail, []byte("{"))); err == nil {
			t.Error("taken")
		}
	})
}

// TestReleasedMails: what the queue did not take is due at once; an attempt that has begun is not.
func TestReleasedMails(t *testing.T) {
	r := newRoom(t)
	a, b := r.post(t, "a@x.example"), r.post(t, "b@x.example")
	due, err := r.store.LeaseMails(t.Context(), 10, time.Minute)
	if err != nil || len(due) != 2 {
		t.Fatal(due, err)
	}
	if again, err := r.store.LeaseMails(t.Context(), 10, time.Minute); err != nil || len(again) != 0 {
		t.Fatal("leased twice", again, err)
	}
	if _, err := r.store.ClaimMail(t.Context(), db.DueMail{ID: b}, time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := r.store.ReleaseMails(t.Context(), due); err != nil {
		t.Fatal(err)
	}
	again, err := r.store.LeaseMails(t.Context(), 10, time.Minute)
	if err != nil || len(again) != 1 || again[0].ID != a {
		t.Errorf("%v %v", again, err)
	}
}

// TestWorkersShareTheMails: three workers send each mail once, also those that were there before
// them, and those whose task the queue has lost.
func TestWorkersShareTheMails(t *testing.T) {
	r := newRoom(t)
	redisURL := devtest.Redis(t)
	queue, err := redisconn.Parse(redisURL)
	if err != nil {
		t.Fatal(err)
	}
	const mails = 60
	for i := range mails {
		r.post(t, fmt.Sprintf("m%d@x.example", i))
	}
	lost, err := r.store.LeaseMails(t.Context(), 20, time.Millisecond)
	if err != nil || len(lost) != 10 {
		t.Fatal(lost, err)
	}
	b := &box{}
	ctx, cancel := context.WithCancel(t.Context())
	var workers sync.WaitGroup
	for range 3 {
		client, err := redisconn.Client(redisURL)
		if err != nil {
			t.Fatal(err)
		}
		link := bus.New(client, r.log)
		w := &Worker{Store: r.store, Redis: queue, Bus: link, Box: r.box, Mail: b, Roster: roster.New(client), Log: r.log}
		workers.Go(func() {
			if err := w.Run(ctx); err != nil {
				t.Error(err)
			}
			link.Close()
			_ = client.Close()
		})
	}
	devtest.Eventually(t, "all mails are sent", func() bool { return b.count() >= mails })
	cancel()
	workers.Wait()
	to := map[string]int{}
	for _, m := range b.got {
		to[m.To]++
	}
	if len(to) != mails || len(b.got) != mails {
		t.Errorf("%d mails to %d people, want %d each once", len(b.got), len(to), mails)
	}
}
