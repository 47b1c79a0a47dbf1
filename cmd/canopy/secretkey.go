package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"canopy/db"
	"canopy/jobs"
)

// tellEvery is how often a long walk through a column is told of.
const tellEvery = 5 * time.Second

func secretKeyRotateCommand(m *Main, flags *flag.FlagSet) func(context.Context, []string) error {
	asJSON := jsonFlag(flags)
	return func(ctx context.Context, _ []string) error {
		p, err := m.tool(ctx)
		if err != nil {
			return err
		}
		defer p.Close()
		progress := &renewals{out: m.Stderr, at: time.Now()}
		r, err := jobs.RotateSealingKey(ctx, p.Store, p.Box, progress.told)
		if ctx.Err() != nil {
			return errors.New("interrupted: repeat it to go on; until it has ended, every key is needed")
		}
		if err != nil {
			return err
		}
		return m.tellRotation(p.Box.KeyIDs(), r, *asJSON)
	}
}

// renewals tells of walks through what is sealed: of each column where there was something to do, and of a long
// one every so often.
type renewals struct {
	out  io.Writer
	at   time.Time
	last db.Renewal
}

func (p *renewals) told(r db.Renewal) {
	if r.Rows < p.last.Rows || r.Column != p.last.Column {
		if p.last.Renewed+p.last.Busy > 0 {
			p.tell(p.last)
		}
	} else if time.Since(p.at) >= tellEvery {
		p.tell(r)
	}
	p.last = r
}

func (p *renewals) tell(r db.Renewal) {
	p.at = time.Now()
	_, _ = fmt.Fprintf(p.out, "%s: %d rows looked at, %d sealed anew\n", r.Column, r.Rows, r.Renewed)
}

// rotatedTo is what programs are told of a rotation of keys, which go by their ids.
type rotatedTo struct {
	Newest string `json:"newest"`
	// Free can be taken out of CANOPY_SECRET_KEY; with InUse some process still seals.
	Free  []string `json:"free"`
	InUse []string `json:"inUse"`
}

// tellRotation tells what came of a rotation of keys. It is a fault where something is left that no key opens, or
// a key that can't be taken out.
func (m *Main) tellRotation(keys []string, r *jobs.SealingRotation, asJSON bool) error {
	named := func(id string) string {
		return fmt.Sprintf("key %d (%s)", slices.Index(keys, id)+1, id)
	}
	text := fmt.Sprintf("All is sealed with %s.\n", named(r.Newest))
	for _, id := range r.Free {
		text += fmt.Sprintf("Nothing is with %s: it can be taken out of CANOPY_SECRET_KEY.\n", named(id))
	}
	if err := m.write(asJSON, rotatedTo{r.Newest, append([]string{}, r.Free...), append([]string{}, r.InUse...)}, text); err != nil {
		return err
	}
	var faults []string
	for _, c := range r.Lost {
		faults = append(faults, fmt.Sprintf("no key opens %d values of %s, the first one that of %s: they have to be set anew", c.Lost, c.Column, c.FirstLost))
	}
	for _, id := range r.InUse {
		faults = append(faults, fmt.Sprintf("a process runs that seals with %s: start all of them with the newest key first, then repeat this", named(id)))
	}
	if len(faults) > 0 {
		return errors.New(strings.Join(faults, "; "))
	}
	return nil
}
