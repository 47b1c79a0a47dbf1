package main

import (
	"fmt"
	"os"
	"time"

	"canopy/internal/chat"
	"canopy/internal/config"
	"canopy/internal/diagram"
	"canopy/internal/egress"
	"canopy/internal/embed/openai"
	"canopy/jobs"
)

// hostConnections bounds the connections to one host, which many destinations may share.
const hostConnections = 1024

// stepResponse is how much of an answer an http step reads, in bytes.
const stepResponse = 1 << 20

// egressClient makes a client for addresses that others choose: deliveries with their 5 seconds,
// http steps with theirs.
func (p *platform) egressClient(timeout time.Duration, maxResponse int64) (*egress.Client, error) {
	o := egress.Options{
		Allow: p.cfg.WebhookAllow, Timeout: timeout, MaxResponse: maxResponse, MaxConnsPerHost: hostConnections,
		UserAgent: "canopy/" + version,
	}
	if p.cfg.WebhookCA != "" {
		pem, err := os.ReadFile(p.cfg.WebhookCA)
		if err != nil {
			return nil, fmt.Errorf("CANOPY_WEBHOOK_CA: %w", err)
		}
		if o.RootCAs, err = egress.Roots(pem); err != nil {
			return nil, fmt.Errorf("CANOPY_WEBHOOK_CA: %w", err)
		}
	}
	return egress.New(o), nil
}

// runTools are what the steps of runs work with.
func (p *platform) runTools() (*jobs.Tools, error) {
	client, err := p.egressClient(diagram.StepTimeout, stepResponse)
	if err != nil {
		return nil, err
	}
	t := &jobs.Tools{HTTP: client}
	if p.cfg.Chat.URL != "" {
		if t.Chat, err = chatModel(p.cfg.Chat); err != nil {
			return nil, fmt.Errorf("CANOPY_CHAT_URL: %w", err)
		}
	}
	return t, nil
}

func chatModel(c config.Provider) (*chat.Client, error) {
	return chat.New(openai.Config{URL: c.URL, Key: c.APIKey}, c.Model)
}
