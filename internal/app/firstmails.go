package app

import (
	"context"
	"sync/atomic"
	"time"

	"canopy/internal/mail"
)

// firstMailTime is how long the demo's invitations may take.
const firstMailTime = 3 * time.Second

// firstMails sends mails, and knows when those are out that were due at the start: the demo's invitations, whose lines of the log would push
// off the screen what a development platform tells of itself.
type firstMails struct {
	mail.Sender
	left atomic.Int64
	out  chan struct{}
}

func newFirstMails(ctx context.Context, p *Platform, s mail.Sender) (*firstMails, error) {
	due, err := p.Store.MailBacklog(ctx)
	if err != nil {
		return nil, err
	}
	f := &firstMails{Sender: s, out: make(chan struct{})}
	if f.left.Store(int64(due.Count)); due.Count == 0 {
		close(f.out)
	}
	return f, nil
}

func (f *firstMails) Send(ctx context.Context, m mail.Message) error {
	err := f.Sender.Send(ctx, m)
	if f.left.Add(-1) == 0 {
		close(f.out)
	}
	return err
}

// wait returns when they are out, or after a moment.
func (f *firstMails) wait(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, firstMailTime)
	defer cancel()
	select {
	case <-f.out:
	case <-ctx.Done():
	}
}
