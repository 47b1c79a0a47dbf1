package db

import (
	"context"
	"encoding/json"
	"time"

	"canopy/internal/access"
)

// Import is how a company came about that was read in from an archive.
type Import struct {
	CustomerID int64 `db:"customer_id"`
	// ParentID is the company below which it was made, Archive the SHA-256 of the archive: together they are unique.
	ParentID int64  `db:"parent_id"`
	Archive  []byte `db:"archive"`
	// Space is what the names of its originals are made of, with those in the archive.
	Space string `db:"space"`
	// Originals counts those that are in the store of documents, in the archive's order.
	Originals int64 `db:"originals"`
	// ActiveThen: the company is suspended until the import is done, and active afterwards.
	ActiveThen bool            `db:"active_then"`
	Report     json.RawMessage `db:"report"`
	DoneAt     *time.Time      `db:"done_at"`
}

var importColumns = columns[Import]("i")

var (
	// It comes before all that an import reads, so that of two at the same time one goes on where the other has ended.
	qLockImport   = prepare(`SELECT pg_advisory_xact_lock(hashtext('canopy import'), hashtext($1 || ' ' || encode($2, 'hex')))`)
	qImport       = prepare(`SELECT ` + importColumns + ` FROM customer_imports i WHERE i.parent_id = $1 AND i.archive = $2`)
	qInsertImport = prepare(`
		INSERT INTO customer_imports (customer_id, parent_id, archive, space, active_then, report) VALUES ($1, $2, $3, $4, $5, $6)`)
	qNoteOriginals = prepare(`UPDATE customer_imports SET originals = $2 WHERE customer_id = $1 AND originals < $2`)
	qEndImport     = prepare(`UPDATE customer_imports SET done_at = now() WHERE customer_id = $1 AND done_at IS NULL`)
	qImportedFile  = prepare(`
		SELECT ` + documentColumns + ` FROM (SELECT * FROM documents WHERE file_name = $3 OFFSET 0) d` +
		joinByID("contexts", "x", "d.context_id") + joinByID("accounts", "a", "x.account_id") + joinByID("customers", "c", "a.customer_id") + `WHERE ` + withinScope)
)

// LockImport keeps others from importing the archive below the company until the transaction ends.
func (s *Store) LockImport(ctx context.Context, parentID int64, archive []byte) error {
	_, err := s.exec(ctx, qLockImport, parentID, archive)
	return err
}

// Import reads how the archive was imported below a company; ErrNoRows: it was not.
func (s *Store) Import(ctx context.Context, parentID int64, archive []byte) (*Import, error) {
	i := &Import{}
	err := s.get(ctx, i, qImport, parentID, archive)
	return i, err
}

// InsertImport writes down that a company was imported.
func (s *Store) InsertImport(ctx context.Context, i *Import) error {
	return s.must(ctx, qInsertImport, i.CustomerID, i.ParentID, i.Archive, i.Space, i.ActiveThen, []byte(i.Report))
}

// NoteOriginals writes down how many of an import's originals are stored.
func (s *Store) NoteOriginals(ctx context.Context, customerID, originals int64) error {
	_, err := s.exec(ctx, qNoteOriginals, customerID, originals)
	return err
}

// EndImport writes down that all of an import is there. ErrNoRows: it was so before, or the company is gone.
func (s *Store) EndImport(ctx context.Context, customerID int64) error {
	return s.must(ctx, qEndImport, customerID)
}

// ImportedDocument reads the document within the scope whose original has a name; ErrNoRows: it is not there, or no longer.
func (s *Store) ImportedDocument(ctx context.Context, scope access.Scope, fileName string) (*Document, error) {
	d := &Document{}
	err := s.get(ctx, d, qImportedFile, scope.From(), scope.To(), fileName)
	return d, err
}
