package db

import (
	"context"
	"encoding/json"
	"time"

	"github.com/lib/pq"

	"canopy/internal/access"
	"canopy/internal/globalid"
)

// Document is an uploaded file of a context, and how far its processing has come.
type Document struct {
	ID           int64  `db:"id"`
	ContextID    int64  `db:"context_id" audit:"context"`
	FileName     string `db:"file_name"`
	OriginalName string `db:"original_name" audit:"originalName"`
	DisplayName  string `db:"display_name" audit:"displayName"`
	NameIndex    int    `db:"name_index"`
	Format       string `db:"format"`
	ContentType  string `db:"content_type" audit:"contentType"`
	// ContentHash is the SHA-256 of the file in hexadecimal, Size its length in bytes.
	ContentHash string `db:"content_hash" audit:"contentHash"`
	Size        int64  `db:"size" audit:"size"`
	// Attributes are a flat JSON object.
	Attributes json.RawMessage `db:"attributes" audit:"attributes"`
	// Warnings are a list of DocumentWarning, of a ready document.
	Warnings json.RawMessage `db:"warnings"`
	// Status is pending, processing, ready or failed.
	Status   string  `db:"status" audit:"status"`
	Progress float64 `db:"progress"`
	// Error is one sentence for a person; empty unless the document failed.
	Error       string     `db:"error"`
	ChunkCount  int        `db:"chunks"`
	Revision    int64      `db:"revision"`
	CreatedBy   *int64     `db:"created_by"`
	CreatedAt   time.Time  `db:"created_at"`
	Version     int        `db:"row_version"`
	StartedAt   *time.Time `db:"started_at"`
	CompletedAt *time.Time `db:"completed_at"`

	siblings
}

// DocumentWarning tells what a ready document lacks.
type DocumentWarning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	// Page is the first one that it is about, counted from 1; nil where it is about none.
	Page *int `json:"page"`
}

// GlobalID is the node id of the document.
func (d *Document) GlobalID() globalid.ID { return globalid.ID{Type: "Document", Int: d.ID} }

func (d *Document) key() int64 { return d.ID }

var documentColumns = columns[Document]("d")

const documentTables = ` FROM documents d JOIN contexts x ON x.id = d.context_id `

// blobOf is the key of a document's original in the blob store.
const blobOf = `'documents/' || d.file_name`

// BlobKey is where a document's original is kept in the blob store.
func (d *Document) BlobKey() string { return BlobPrefix + d.FileName }

// BlobPrefix is what the keys of all originals begin with.
const BlobPrefix = "documents/"

var (
	qDocument = prepare(`SELECT ` + documentColumns + documentTables + `WHERE d.id = $3 AND ` + onDesk)
	qOriginal = prepare(`SELECT ` + documentColumns + ` FROM documents d WHERE d.id = $1
			AND EXISTS (SELECT FROM contexts x WHERE x.id = d.context_id AND x.removed_at IS NULL) AND NOT ` + inactive(lineageOfContext("d.context_id")))
	qDocumentForUpdate = prepare(`
		SELECT ` + documentColumns + documentTables + `WHERE d.id = $3 AND ` + onDesk + ` FOR UPDATE OF d`)
	qDocumentsByID = prepare(`SELECT ` + documentColumns + documentTables + `WHERE d.id = ANY($3) AND ` + onDesk)
	// The last document up to that name is read, by the one index that has this order.
	qStored = prepare(`
		SELECT COALESCE((SELECT size FROM context_sizes WHERE context_id = $1), 0) AS size, COALESCE((
			SELECT CASE WHEN l.context_id = $1 AND l.original_name = $2 THEN l.name_index + 1 END FROM (
				SELECT context_id, original_name, name_index FROM documents WHERE (context_id, original_name) <= ($1::bigint, $2::text)
				ORDER BY context_id DESC, original_name DESC, name_index DESC LIMIT 1) l), 0) AS name_index`)
	qInsertDocument = prepare(`
		INSERT INTO documents AS d (context_id, file_name, original_name, display_name, name_index, format, content_type,
			content_hash, size, created_by, attributes, model, chunk_size, overlap)
		SELECT x.id, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::jsonb, x.embedding_model, x.chunk_size, x.overlap FROM contexts x WHERE x.id = $1
		RETURNING ` + documentColumns)
	// The contexts' documents are read by their keys, however many others have such attributes.
	qFittingDocuments = prepare(`
		SELECT array_agg(d.id) FROM documents d
		WHERE d.context_id = ANY ($1::bigint[]) AND ` + unindexed("d.status = 'ready'") + ` AND ` + unindexed("d.attributes @@ $2::jsonpath"))
	qUpdateDocument   = prepare(`UPDATE documents d SET display_name = $2, attributes = $3::jsonb WHERE d.id = $1 RETURNING ` + documentColumns)
	qDeleteDocument   = prepare(`DELETE FROM documents WHERE id = $1`)
	qDropDocumentBlob = prepare(`
		INSERT INTO blob_deletions (key) SELECT ` + blobOf + ` FROM documents d WHERE d.id = $1 ON CONFLICT (key) DO NOTHING`)
	qDropContextBlobs = prepare(`
		INSERT INTO blob_deletions (key) SELECT ` + blobOf + ` FROM documents d WHERE d.context_id = $1 ON CONFLICT (key) DO NOTHING`)
	qReprocess = prepare(`
		UPDATE documents d SET ` + begunAnew + `
		FROM contexts x WHERE x.id = d.context_id AND d.id = $1 RETURNING ` + documentColumns)
)

var (
	documentsByID = rowsBy(qDocumentsByID, Desk.scoped, (*Document).key)

	contextDocuments     = edgeBy((*Context).key, pagesOf[Document](documentsOfContext))
	contextDocumentCount = edgeBy((*Context).key, countsOf(documentsOfContext))
	documentContext      = edgeBy(func(d *Document) int64 { return d.ContextID }, contextsByID)
	documentCreator      = edgeBy(func(d *Document) int64 { return orZero(d.CreatedBy) }, usersByID)
)

// Document reads one document of a desk's contexts.
func (s *Store) Document(ctx context.Context, desk Desk, id int64) (*Document, error) {
	d := &Document{}
	err := s.get(ctx, d, qDocument, desk.args(id)...)
	return d, err
}

// Original reads the document that a link leads to, whoever follows it; ErrNoRows where its company is suspended or deleted.
func (s *Store) Original(ctx context.Context, id int64) (*Document, error) {
	d := &Document{}
	err := s.get(ctx, d, qOriginal, id)
	return d, err
}

// DocumentForUpdate reads one document and holds its row until the transaction ends.
func (s *Store) DocumentForUpdate(ctx context.Context, desk Desk, id int64) (*Document, error) {
	d := &Document{}
	err := s.get(ctx, d, qDocumentForUpdate, desk.args(id)...)
	return d, err
}

// Documents is a page of a context's documents.
func (c *Context) Documents(ctx context.Context, s *Store, a Ask) ([]*Document, error) {
	return follow(ctx, s, c, contextDocuments, scopedAsk{ask: a})
}

// DocumentCount counts a context's documents.
func (c *Context) DocumentCount(ctx context.Context, s *Store, a Ask) (int, error) {
	return follow(ctx, s, c, contextDocumentCount, scopedAsk{ask: a})
}

// Stored is what a context holds: its documents' sizes together, in bytes, and the index of the next
// document of a name.
type Stored struct {
	Size      int64 `db:"size"`
	NextIndex int   `db:"name_index"`
}

// Stored measures a context. Under ContextForUpdate no upload can change it until the transaction ends.
func (c *Context) Stored(ctx context.Context, s *Store, originalName string) (st Stored, err error) {
	err = s.get(ctx, &st, qStored, c.ID, originalName)
	return st, err
}

// InsertDocument adds a document, to be processed with its context's settings.
func (s *Store) InsertDocument(ctx context.Context, d Document) (*Document, error) {
	row := &Document{}
	err := s.get(ctx, row, qInsertDocument, d.ContextID, d.FileName, d.OriginalName, d.DisplayName, d.NameIndex, d.Format,
		d.ContentType, d.ContentHash, d.Size, d.CreatedBy, string(d.Attributes))
	return row, err
}

// UpdateDocument writes the name that a document is shown by, and its attributes.
func (s *Store) UpdateDocument(ctx context.Context, d *Document) (*Document, error) {
	row := &Document{}
	err := s.get(ctx, row, qUpdateDocument, d.ID, d.DisplayName, string(d.Attributes))
	return row, err
}

// FittingDocuments gives the ids of the contexts' ready documents whose attributes fit a predicate.
func (s *Store) FittingDocuments(ctx context.Context, contexts []int64, predicate string) ([]int64, error) {
	var ids pq.Int64Array
	err := s.get(ctx, &ids, qFittingDocuments, contexts, predicate)
	return ids, err
}

// DeleteDocument removes a document with its chunks and puts its original up for deletion. One with very many chunks is only hidden: EraseContexts
// takes it away.
func (s *Store) DeleteDocument(ctx context.Context, d *Document) error {
	large := d.ChunkCount > eraseChunks
	if d.Status != "ready" {
		if err := s.get(ctx, &large, qDocumentIsLarge, d.ID); err != nil {
			return err
		}
	}
	if large {
		return s.takeOut(ctx, d, 0)
	}
	if err := s.must(ctx, qBumpDocument, d.ContextID, d.ID); err != nil {
		return err
	}
	if _, err := s.exec(ctx, qDropDocumentBlob, d.ID); err != nil {
		return err
	}
	return s.must(ctx, qDeleteDocument, d.ID)
}

// ReprocessDocument has a document processed anew, with its context's settings of now. Whoever works
// on it at the moment can't write to it any more.
func (s *Store) ReprocessDocument(ctx context.Context, d *Document) (*Document, error) {
	if err := s.must(ctx, qBumpDocument, d.ContextID, d.ID); err != nil {
		return nil, err
	}
	row := &Document{}
	err := s.get(ctx, row, qReprocess, d.ID)
	return row, err
}

// Context is the edge from a document to its context.
func (d *Document) Context(ctx context.Context, s *Store, desk Desk) (*Context, error) {
	return follow(ctx, s, d, documentContext, desk)
}

// Creator is the edge from a document to the user who uploaded it; nil when that user is gone or
// beyond the scope.
func (d *Document) Creator(ctx context.Context, s *Store, scope access.Scope) (*User, error) {
	return follow(ctx, s, d, documentCreator, scope)
}
