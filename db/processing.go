package db

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"
)

// DueDocument names a document to process and how often that was begun.
type DueDocument struct {
	ID       int64 `db:"id" json:"id"`
	Attempts int   `db:"attempts" json:"attempts"`
}

// DocumentWork is a claimed document, with what its processing needs to know. A later claim ends it:
// nothing can be written for it any more.
type DocumentWork struct {
	Document
	AccountID  int64 `db:"account_id"`
	Dimensions int   `db:"dimensions"`
	// Model, ChunkSize and Overlap are those to process the document with.
	Model     string  `db:"model"`
	ChunkSize int     `db:"chunk_size"`
	Overlap   float64 `db:"overlap"`
	// Attempts counts the claims; Faults those that ended with a fault of the platform's, or of a
	// model server's.
	Attempts int `db:"attempts"`
	Faults   int `db:"faults"`
	// Reader is the version of what made the chunks that are stored already; 0 before the first.
	Reader int `db:"reader"`
	// Packed tells of the revision that the document had when it was ready the last time, as keptAnew does; 0 where it never was.
	Packed int64 `db:"packed"`
	// Traceparent leads to what the document comes from; nil where that was not told.
	Traceparent *string `db:"traceparent"`
}

var (
	// heldDocument is document $1, as long as the worker of attempt $2 has it.
	heldDocument = `id = $1 AND attempts = $2 AND ` + unindexed("status = 'processing'")

	documentsWork = work{
		table: "documents", open: "status IN ('pending', 'processing')", handedOut: "handed_out", due: "next_attempt_at",
		first: "next_attempt_at", size: "size", window: "32", set: ", handed_out = true", count: "attempts",
		owner: "context_id", lineage: lineageOfContext("{owner}"), stopped: ", handed_out = false",
	}
	qLeaseDocuments    = documentsWork.leased()
	suspendedDocuments = suspension{documentsWork.setAside(), documentsWork.takeBack()}
	// A document whose attempt has begun meanwhile has another count, and is left alone. One of a hidden context waits with it.
	qReleaseDocuments = prepare(`
		UPDATE documents t SET handed_out = false,
			next_attempt_at = COALESCE((SELECT x.erase_at FROM contexts x WHERE x.id = t.context_id AND x.removed_at IS NOT NULL FOR SHARE), now())
		FROM unnest($1::bigint[], $2::integer[]) d(id, attempts)
		WHERE t.id = ANY($1) AND t.id = d.id AND t.attempts = d.attempts AND ` + unindexed("t.status IN ('pending', 'processing')"))
	qClaimDocument = prepare(`
		UPDATE documents d SET status = 'processing', attempts = d.attempts + 1, next_attempt_at = now() + $3 * interval '1 second',
			started_at = COALESCE(d.started_at, now())
		FROM contexts x WHERE x.id = d.context_id AND d.id = $1 AND d.attempts = $2 AND ` + unindexed("d.status IN ('pending', 'processing')") + `
			AND x.removed_at IS NULL AND ` + unindexed("NOT "+inactive(lineageOfAccount("x.account_id"))) + `
		RETURNING ` + documentColumns + `, x.account_id, CASE WHEN ` + measuresAnew("x.id", "d.id") + ` THEN 0 ELSE x.dimensions END AS dimensions, d.model, d.chunk_size, d.overlap, d.attempts, d.faults, d.reader, d.packed, d.traceparent`)
	qRenewDocument = prepare(`
		UPDATE documents SET next_attempt_at = now() + $3 * interval '1 second', progress = GREATEST(progress, $4)
		WHERE ` + heldDocument)
	qChunkPositions = prepare(`SELECT position FROM chunks WHERE document_id = $1 AND revision = $2 ORDER BY position`)
	qFinishContext  = prepare(bump(`, dimensions = CASE WHEN dimensions = 0 OR $3::integer > 0 AND ` + measuresAnew("contexts.id", "$2") + ` THEN $3 ELSE dimensions END`))
	qFinishDocument = prepare(`
		UPDATE documents SET status = 'ready', progress = 1, error = '', chunks = $3, warnings = $4::jsonb, packed = revision, completed_at = now()
		WHERE ` + heldDocument)
	qDocumentBacklog = backlog("documents", "next_attempt_at", `status IN ('pending', 'processing')`)
	qReadBy          = prepare(`
		WITH ` + dropOthers("0") + `,
		read AS (UPDATE documents d SET reader = $3, packed = CASE WHEN abs(d.packed) = d.revision THEN 0 ELSE d.packed END FROM part p WHERE d.id = p.id AND NOT p.more)
		SELECT more FROM part`)
	qDropOthers   = prepare(`WITH ` + dropOthers("$3") + ` SELECT more FROM part`)
	qFailDocument = prepare(`
		UPDATE documents SET status = 'failed', error = $3, chunks = CASE WHEN packed = 0 THEN 0 ELSE chunks END, warnings = '[]', completed_at = now()
		WHERE ` + heldDocument)
	qDocumentLate = prepare(`
		UPDATE documents SET status = 'pending', handed_out = false, next_attempt_at = now() + $3 * interval '1 second', error = $4, faults = faults + $5
		WHERE ` + heldDocument)
	// A twin has the same bytes, read the same way, and belongs to the same account.
	twin = ` FROM documents o JOIN contexts x ON ` + shownOn + ` = $2
		CROSS JOIN LATERAL (SELECT * FROM documents WHERE context_id = x.id AND content_hash = o.content_hash AND id <> o.id OFFSET 0) d
		WHERE o.id = $1 AND d.model = o.model AND d.format = o.format AND d.chunk_size = o.chunk_size AND d.overlap = o.overlap`
	qTwin       = prepare(`SELECT d.id, d.revision, d.chunks, d.warnings, x.dimensions` + twin + ` AND d.status = 'ready' AND d.reader = o.reader ORDER BY d.id LIMIT 1`)
	qTwinAtWork = prepare(`SELECT EXISTS (SELECT 1` + twin + ` AND d.status IN ('pending', 'processing') AND d.id < o.id AND d.faults = 0)`)
	// A part of a twin's chunks, those at the positions from $5 to before $6, and the blocks that begin there.
	qCopyChunks = prepare(`
		INSERT INTO chunks (document_id, revision, position, content, overlap_bytes, tokens, page, heading, row_number, places)
		SELECT d.id, d.revision, k.position, k.content, k.overlap_bytes, k.tokens, k.page, k.heading, k.row_number, k.places
		FROM documents d JOIN chunks k ON k.document_id = $3 AND k.revision = $4 AND k.position >= $5 AND k.position < $6
		WHERE d.id = $1 AND d.attempts = $2 AND ` + unindexed("d.status = 'processing'") + `
		ON CONFLICT ON CONSTRAINT chunks_once DO NOTHING`)
	// The vectors are the same; the ids of their chunks are not.
	qCopyBlocks = prepare(`
		INSERT INTO vector_blocks (document_id, revision, dense, first, chunks, block)
		SELECT d.id, d.revision, b.dense, b.first, ` + idsOfChunks("b.first", "b.first + length(b.chunks) / 8") + `, b.block
		FROM documents d JOIN vector_blocks b ON b.document_id = $3 AND b.revision = $4 AND b.first >= $5 AND b.first < $6
		WHERE d.id = $1 AND d.attempts = $2 AND ` + unindexed("d.status = 'processing'") + `
		ON CONFLICT DO NOTHING`)
)

// dropOthers takes away some of what document $1 has beside its kept revision and the chunks before a position of the one at work, as long as the worker of
// attempt $2 has it; more tells that there may be more. Nobody finds anything of a document that is being processed, so it may go by parts.
func dropOthers(from string) string {
	beside := func(row, table, position string, most int) string {
		of := func(revisions string) string {
			return `SELECT ` + row + ` AS row FROM ` + table + ` WHERE document_id = h.id AND ` + revisions
		}
		return `(` + of("revision < abs(h.packed)") + `
			UNION ALL ` + of("revision > abs(h.packed) AND revision < h.revision") + `
			UNION ALL ` + of("revision = h.revision AND "+position+" >= "+from) + ` LIMIT ` + strconv.Itoa(most) + `)`
	}
	return `held AS MATERIALIZED (SELECT id, revision, packed, chunks FROM documents WHERE ` + heldDocument + ` FOR NO KEY UPDATE),
		blocks AS (DELETE FROM vector_blocks WHERE ctid = ANY (ARRAY(SELECT o.row FROM held h CROSS JOIN LATERAL ` + beside("ctid", "vector_blocks", "first", eraseBlocks) + ` o)) RETURNING 1),
		gone AS (DELETE FROM chunks WHERE id = ANY (ARRAY(SELECT o.row FROM held h CROSS JOIN LATERAL ` + beside("id", "chunks", "position", eraseChunks) + ` o)) RETURNING 1),
		part AS (SELECT h.id, (SELECT count(*) FROM blocks) = ` + strconv.Itoa(eraseBlocks) + ` OR (SELECT count(*) FROM gone) = ` + strconv.Itoa(eraseChunks) + ` AS more FROM held h)`
}

// LeaseDocuments hands out due documents by turns of branches, for the lease, so that no more than so many
// are handed out or processed at the same time.
func (s *Store) LeaseDocuments(ctx context.Context, places int, lease time.Duration) ([]DueDocument, error) {
	return handOut[DueDocument](ctx, s, qLeaseDocuments, places, lease)
}

// ReleaseDocuments ends the lease of documents that could not be handed on: they are due again.
func (s *Store) ReleaseDocuments(ctx context.Context, due []DueDocument) error {
	return release(ctx, s, qReleaseDocuments, due, func(d DueDocument) (int64, int) { return d.ID, d.Attempts })
}

// SortDocuments has the documents of suspended companies wait, and those whose companies go on be due again.
func (s *Store) SortDocuments(ctx context.Context) error { return suspendedDocuments.sort(ctx, s) }

// ClaimDocument begins the next attempt on a document, under a lease that RenewDocument keeps up;
// ErrNoRows when it is done, gone, or claimed by another, or its company is suspended.
func (s *Store) ClaimDocument(ctx context.Context, due DueDocument, lease time.Duration) (*DocumentWork, error) {
	w := &DocumentWork{}
	err := s.get(ctx, w, qClaimDocument, due.ID, due.Attempts, lease.Seconds())
	return w, err
}

// RenewDocument keeps the lease up and tells the progress, 0 to 1; ErrNoRows when the work was lost to
// another claim, a deletion or a request to begin anew.
func (s *Store) RenewDocument(ctx context.Context, w *DocumentWork, lease time.Duration, progress float64) error {
	return s.must(ctx, qRenewDocument, w.ID, w.Attempts, lease.Seconds(), progress)
}

// ReadBy drops the chunks that an earlier attempt has stored when another version of the reader made
// them; ErrNoRows when the work was lost.
func (s *Store) ReadBy(ctx context.Context, w *DocumentWork, reader int) error {
	if w.Reader == reader {
		return nil
	}
	err := s.byParts(ctx, qReadBy, w.ID, w.Attempts, reader)
	if err == nil {
		w.Reader = reader
	}
	return err
}

// byParts has a statement do its next part until there is no more, each in a transaction of its own.
func (s *Store) byParts(ctx context.Context, part query, args ...any) error {
	for more := true; more; {
		if err := s.get(ctx, &more, part, args...); err != nil {
			return err
		}
	}
	return nil
}

// ChunkPositions gives the positions of the work's chunks that are stored already, in order.
func (s *Store) ChunkPositions(ctx context.Context, w *DocumentWork, each func(int) error) error {
	type row struct{ Position int }
	return stream(ctx, s, func(r *row) error { return each(r.Position) }, qChunkPositions, w.ID, w.Revision)
}

// FinishDocument makes a document ready, with its revision's chunks and no others. dimensions is the
// length of its dense vectors, 0 without any. ErrNoRows says that the work was lost.
func (s *Store) FinishDocument(ctx context.Context, w *DocumentWork, chunks, dimensions int, warnings json.RawMessage) error {
	if w.Packed != 0 {
		if err := s.keepNow(ctx, w, chunks, warnings); err != nil {
			return err
		}
	}
	if err := s.byParts(ctx, qDropOthers, w.ID, w.Attempts, chunks); err != nil {
		return err
	}
	return s.Tx(ctx, func(tx *Store) error {
		// The context first: whoever deletes it locks in this order, too.
		if err := tx.must(ctx, qFinishContext, w.ContextID, w.ID, dimensions); err != nil {
			return err
		}
		return tx.must(ctx, qFinishDocument, w.ID, w.Attempts, chunks, string(warnings))
	})
}

// DocumentLate puts a document off until after the wait. fault says that something was wrong, which
// the sentence tells to a person.
func (s *Store) DocumentLate(ctx context.Context, w *DocumentWork, wait time.Duration, fault bool, sentence string) error {
	count := 0
	if fault {
		count = 1
	}
	_, err := s.exec(ctx, qDocumentLate, w.ID, w.Attempts, wait.Seconds(), sentence, count)
	return err
}

// Twin is a ready document of the same bytes, in the same account, processed in the same way.
type Twin struct {
	ID         int64 `db:"id"`
	Revision   int64 `db:"revision"`
	Chunks     int   `db:"chunks"`
	Dimensions int   `db:"dimensions"`
	// Warnings are as in Document.
	Warnings json.RawMessage `db:"warnings"`
}

// Twin finds a document whose chunks the work can take over; ErrNoRows when there is none.
func (s *Store) Twin(ctx context.Context, w *DocumentWork) (*Twin, error) {
	t := &Twin{}
	err := s.get(ctx, t, qTwin, w.ID, w.AccountID)
	return t, err
}

// TwinAtWork tells whether an older document of the same bytes is being processed in the same way, so
// that waiting for it saves the work.
func (s *Store) TwinAtWork(ctx context.Context, w *DocumentWork) (busy bool, err error) {
	err = s.get(ctx, &busy, qTwinAtWork, w.ID, w.AccountID)
	return busy, err
}

// CopyChunks takes over all chunks of a twin with their vectors. It takes none, and says so, where the twin is being
// changed, or a part was here already.
func (s *Store) CopyChunks(ctx context.Context, w *DocumentWork, t *Twin) (copied bool, err error) {
	err = s.Tx(ctx, func(tx *Store) error {
		n, err := tx.copyParts(ctx, qCopyChunks, w, t)
		if err == nil && n != int64(t.Chunks) {
			err = errOtherTwin
		}
		if err == nil {
			_, err = tx.copyParts(ctx, qCopyBlocks, w, t)
		}
		return err
	})
	if errors.Is(err, errOtherTwin) {
		return false, nil
	}
	return err == nil, err
}

// copyAtOnce is how many positions of a twin are copied in one statement: none takes long, however many it has.
const copyAtOnce = 2000

// copyParts copies what a twin has at all its positions, and counts the rows.
func (s *Store) copyParts(ctx context.Context, q query, w *DocumentWork, t *Twin) (rows int64, err error) {
	for first := 0; first < t.Chunks; first += copyAtOnce {
		n, err := s.exec(ctx, q, w.ID, w.Attempts, t.ID, t.Revision, first, first+copyAtOnce)
		if err != nil {
			return 0, err
		}
		rows += n
	}
	return rows, nil
}

// errOtherTwin undoes a copy.
var errOtherTwin = errors.New("the twin has other chunks")

// DocumentBacklog tells of the documents that wait to be processed, counting no further than 100,000.
func (s *Store) DocumentBacklog(ctx context.Context) (b Backlog, err error) {
	err = s.get(ctx, &b, qDocumentBacklog)
	return b, err
}
