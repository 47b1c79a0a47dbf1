package app

import (
	"fmt"
	"os"
	"time"

	"canopy/internal/diagram"
	"canopy/internal/egress"
	"canopy/jobs"
)

// hostConnections bounds the connections to one host, which the destinations of many companies may share: it is room for all attempts that are under way, as one that waited for a
// connection would wait for other companies' receivers, within its own time.
const hostConnections = jobs.AttemptPlaces

// stepResponse is how much of an answer an http step reads, in bytes.
const stepResponse = 1 << 20

// egressClient makes a client for addresses that others choose: deliveries with their 5 seconds,
// http steps with theirs.
func (p *Platform) egressClient(timeout time.Duration, maxResponse int64) (*egress.Client, error) {
	o := egress.Options{
		Allow: p.Config.WebhookAllow, Receiver: p.Config.Receiver, Timeout: timeout, MaxResponse: maxResponse, MaxConnsPerHost: hostConnections,
		UserAgent: "canopy/" + p.version,
	}
	if p.Config.WebhookCA != "" {
		pem, err := os.ReadFile(p.Config.WebhookCA)
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
func (p *Platform) runTools() (*jobs.Tools, error) {
	client, err := p.egressClient(diagram.StepTimeout, stepResponse)
	if err != nil {
		return nil, err
	}
	return &jobs.Tools{
		HTTP: client, Chat: p.Resolver.Chat, Contexts: p.Resolver.Search, Store: p.Store, Box: p.Resolver.Box, Log: p.Log,
	}, nil
}
