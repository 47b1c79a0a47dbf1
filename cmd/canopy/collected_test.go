package main

import (
	"context"
	"sync"

	"canopy/internal/mail"
)

// collected is a letter box: a sender that keeps what it is given.
type collected struct {
	mu    sync.Mutex
	mails []mail.Message
}

// Send keeps a mail.
func (c *collected) Send(_ context.Context, m mail.Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mails = append(c.mails, m)
	return nil
}

func (c *collected) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.mails)
}
