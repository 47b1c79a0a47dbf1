package search

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"canopy/db"
	"canopy/internal/access"
)

// The bounds of the journal: how much waits to be written, how much of that is written at a time, how much of a text is kept,
// in characters, and how long a write may take. What is beyond them is not kept.
const (
	journalWaits = 2000
	journalBatch = 500
	journalText  = 1000
	journalTime  = 10 * time.Second
)

// journal writes what is asked of contexts that keep it, behind the answers: nobody waits for it.
type journal struct {
	store   *db.Store
	waiting chan db.ContextQuery
	writing atomic.Bool
}

func newJournal(store *db.Store) *journal {
	return &journal{store: store, waiting: make(chan db.ContextQuery, journalWaits)}
}

// note keeps what was asked, and what was found.
func (j *journal) note(ctx context.Context, row *db.Context, q Query, hits []*Hit) {
	if !row.LogsQueries {
		return
	}
	entry := db.ContextQuery{ContextID: row.ID, Text: kept(q.Prompt), Mode: string(q.mode(row)), Hits: len(hits)}
	if p := access.PrincipalOf(ctx); p != nil {
		entry.UserID = &p.UserID
	}
	for _, h := range hits {
		entry.Relevance = max(entry.Relevance, h.Relevance)
	}
	select {
	case j.waiting <- entry:
	default:
	}
	j.begin()
}

// kept is what is kept of a text, without what PostgreSQL has no place for.
func kept(prompt string) string {
	text := []rune(strings.ReplaceAll(strings.ToValidUTF8(strings.TrimSpace(prompt), ""), "\x00", ""))
	return string(text[:min(len(text), journalText)])
}

// begin has somebody write, unless somebody does.
func (j *journal) begin() {
	if j.writing.CompareAndSwap(false, true) {
		go j.write()
	}
}

// write writes until nothing waits. What can't be written is not kept.
func (j *journal) write() {
	for rows := j.take(); len(rows) > 0; rows = j.take() {
		ctx, cancel := context.WithTimeout(context.Background(), journalTime)
		_ = j.store.KeepQueries(ctx, rows)
		cancel()
	}
	j.writing.Store(false)
	if len(j.waiting) > 0 {
		j.begin()
	}
}

func (j *journal) take() (rows []db.ContextQuery) {
	for len(rows) < journalBatch {
		select {
		case entry := <-j.waiting:
			rows = append(rows, entry)
		default:
			return rows
		}
	}
	return rows
}
