package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"

	"canopy/internal/devstack"
)

// judge compares what was acknowledged with what there is, once nothing is under way any more.
func (t *cells) judge(ctx context.Context, out io.Writer) error {
	at := map[string]string{"home": t.home.Leader().URL(), region: t.home.Cell.Leader().URL()}
	var faults []error
	for _, f := range t.score.faults {
		faults = append(faults, errors.New(f))
	}
	bases := map[string]tables{}
	for name, url := range at {
		d, err := open(url)
		if err != nil {
			return err
		}
		defer func() { _ = d.Close() }()
		bases[name] = d
	}
	hashes := map[string]string{}
	for _, w := range t.owners {
		faults = append(faults, t.judgeDocuments(ctx, w, out))
		d := bases[w.name]
		if err := d.settle(ctx); err != nil {
			return errors.Join(append(faults, err)...)
		}
		t.heard.mu.Lock()
		heard := t.heard.heard[w.name]
		t.heard.mu.Unlock()
		faults = append(faults, d.judgeOne(ctx, w.name, w.target, heard, hashes, out), d.judgeRuns(ctx, heard, len(w.started), out), d.knowRuns(ctx, w.started))
	}
	faults = append(faults, t.judgeNames(ctx, bases["home"], out), t.judgeDirectory(ctx, out), t.judgePlaces(ctx, at, out))
	return errors.Join(faults...)
}

// judgeDocuments finds each document that was taken, by a word that stands in it alone.
func (t *cells) judgeDocuments(ctx context.Context, w *owner, out io.Writer) error {
	c := t.caller(w.cell, w)
	type document struct {
		ID                   int64
		OriginalName, Status string
	}
	known := map[string]document{}
	if err := eventually(ctx, func(ctx context.Context) error {
		var list []document
		if err := c.assistant.Call(ctx, "GET", fmt.Sprintf("/context/documents/%d", w.context), nil, &list); err != nil {
			return err
		}
		open := 0
		for _, d := range list {
			known[d.OriginalName] = d
			if d.Status == "pending" || d.Status == "processing" {
				open++
			}
		}
		if open > 0 {
			return fmt.Errorf("%d documents are still read", open)
		}
		return nil
	}); err != nil {
		return fmt.Errorf("%s: %w", w.name, err)
	}
	var lost []string
	for name, word := range w.uploaded {
		d, there := known[name]
		if !there || d.Status != "ready" {
			lost = append(lost, fmt.Sprintf("%s (%s)", name, d.Status))
			continue
		}
		var hits []struct{ DocID int64 }
		if err := c.assistant.Call(ctx, "POST", fmt.Sprintf("/context/relevant-docs/%d", w.context), map[string]any{"prompt": word, "mode": "LEXICAL", "topN": 3}, &hits); err != nil {
			return err
		}
		if !slices.ContainsFunc(hits, func(h struct{ DocID int64 }) bool { return h.DocID == d.ID }) {
			lost = append(lost, name+" (not found)")
		}
	}
	_, _ = fmt.Fprintf(out, "%s: %d documents acknowledged, %d there, %d lost\n", w.name, len(w.uploaded), len(known), len(lost))
	if len(lost) > 0 || len(w.uploaded) == 0 {
		return fmt.Errorf("%s: lost of %d documents: %s", w.name, len(w.uploaded), strings.Join(lost, ", "))
	}
	return nil
}

// knowRuns tells which of the runs that were acknowledged there are not.
func (d tables) knowRuns(ctx context.Context, started map[string]bool) error {
	rows, err := d.QueryContext(ctx, `SELECT job_key FROM runs`)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	known := map[string]bool{}
	for rows.Next() {
		var key string
		if err := rows.Scan(&key); err != nil {
			return err
		}
		known[key] = true
	}
	var lost []string
	for key := range started {
		if !known[key] {
			lost = append(lost, key)
		}
	}
	if len(lost) > 0 {
		return fmt.Errorf("%d runs were acknowledged and are lost: %s", len(lost), strings.Join(lost, ", "))
	}
	return rows.Err()
}

// judgeNames finds each change of the directory that was taken in the home's log.
func (t *cells) judgeNames(ctx context.Context, home tables, out io.Writer) error {
	var log string
	if err := home.QueryRowContext(ctx, `SELECT COALESCE(string_agg(details::text, ' '), '') FROM audit_events WHERE action = 'customer.updated'`).Scan(&log); err != nil {
		return err
	}
	given := t.owners[0].renamed
	lost := slices.DeleteFunc(slices.Clone(given), func(name string) bool { return strings.Contains(log, `"`+name+`"`) })
	_, _ = fmt.Fprintf(out, "%d changes of the directory acknowledged, %d lost\n", len(given), len(lost))
	if len(lost) > 0 || len(given) == 0 {
		return fmt.Errorf("lost of %d changes of the directory: %s", len(given), strings.Join(lost, ", "))
	}
	return nil
}

// judgeDirectory waits until the cell knows what was changed at the home last: what is on its way counts as a difference, too.
func (t *cells) judgeDirectory(ctx context.Context, out io.Writer) error {
	return eventually(ctx, func(ctx context.Context) error {
		text, err := t.home.Cell.JoinAnew(ctx, true)
		if err != nil {
			return err
		}
		var all []struct {
			Table                          string
			Rows, Missing, Different, Gone int
		}
		if err := json.Unmarshal([]byte(text), &all); err != nil {
			return err
		}
		rows := 0
		for _, d := range all {
			if rows += d.Rows; d.Missing+d.Different+d.Gone > 0 {
				return fmt.Errorf("the directory of the cell differs from the home's: %+v", d)
			}
		}
		if rows == 0 {
			return errors.New("there is no directory")
		}
		_, _ = fmt.Fprintf(out, "the directory is the same in both: %d rows of %d tables\n", rows, len(all))
		return nil
	})
}

// judgePlaces looks for what a company has written in the database and the logs of the cell that it does not live in, as text and as bytes.
func (t *cells) judgePlaces(ctx context.Context, at map[string]string, out io.Writer) error {
	program, err := devstack.Program(ctx, "pg_dump")
	if err != nil {
		return err
	}
	var faults []error
	for _, here := range t.owners {
		dump, err := exec.CommandContext(ctx, program, "--data-only", "--inserts", at[here.name]).Output()
		if err != nil {
			return fmt.Errorf("pg_dump: %w", err)
		}
		logs, err := t.logsOf(here)
		if err != nil {
			return err
		}
		for _, w := range t.owners {
			n := marks(dump, w.mark)
			_, _ = fmt.Fprintf(out, "the mark of %s is %d times in the database of %s\n", w.name, n, here.name)
			switch {
			case w == here && n == 0:
				faults = append(faults, fmt.Errorf("the mark of %s is not even in its own database", w.name))
			case w != here && n+marks(logs, w.mark) > 0:
				faults = append(faults, fmt.Errorf("%s knows what %s has", here.name, w.name))
			}
		}
	}
	return errors.Join(faults...)
}

func marks(in []byte, mark string) int {
	return bytes.Count(in, []byte(mark)) + bytes.Count(in, []byte(hex.EncodeToString([]byte(mark))))
}
