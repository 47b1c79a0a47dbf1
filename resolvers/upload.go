package resolvers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"canopy/db"
	"canopy/internal/audit"
	"canopy/internal/extract"
	"canopy/internal/globalid"
	"canopy/internal/intake"
	"canopy/internal/problem"
	"canopy/internal/quota"
	"canopy/internal/rule"
	"canopy/internal/unseen"
)

// UploadDocumentInput is a document for a context.
type UploadDocumentInput struct {
	ContextID  globalid.ID
	File       intake.File
	Attributes json.RawMessage
}

// Upload is a document on its way in: its file, which can be read once, and its attributes, if there are any.
type Upload struct {
	intake.File
	Attributes json.RawMessage
}

// UploadDocumentPayload is what UploadDocument stored.
type UploadDocumentPayload struct{ Document *db.Document }

// UploadDocument stores a document and has it processed.
func (m Mutation) UploadDocument(ctx context.Context, in UploadDocumentInput) (*UploadDocumentPayload, error) {
	row, err := m.StoreDocument(ctx, in.ContextID, func() (*Upload, error) { return &Upload{in.File, in.Attributes}, nil })
	return &UploadDocumentPayload{row}, err
}

// StoreDocument reads a document to its end into the blob store, in constant memory, and adds it to a
// context, to be processed by a worker. It returns once the original and the row are durable. What
// is refused leaves nothing behind. open gives the document, once it is clear that there is a context for it.
func (m Mutation) StoreDocument(ctx context.Context, contextID globalid.ID, open func() (*Upload, error)) (row *db.Document, err error) {
	c, err := m.may(ctx, rule.UploadDocument)
	if err != nil {
		return nil, err
	}
	into, err := m.aContext(ctx, c, contextID, "contextId")
	if err != nil {
		return nil, err
	}
	if m.Blobs == nil {
		return nil, problem.Bad("this platform takes no documents: it has no store for them").With("no_document_store")
	}
	in, err := open()
	if err != nil {
		return nil, err
	}
	var v check
	known := v.attributes("attributes", in.Attributes)
	if err := v.err(); err != nil {
		return nil, err
	}
	name := fileName(in.Name)
	format, err := extract.FormatOf(name)
	if err != nil {
		return nil, refusedFile(err)
	}
	stored, err := into.Stored(ctx, m.Store, name)
	if err != nil {
		return nil, err
	}
	d := db.Document{
		ContextID: into.ID, FileName: uuid.NewString(), OriginalName: name, Format: string(format),
		ContentType: format.ContentType(), CreatedBy: &c.UserID, Attributes: known,
	}
	room, err := m.room(ctx, into, stored)
	if err != nil {
		return nil, err
	}
	if err := m.writeOriginal(ctx, &d, in.Content, room); err != nil {
		return nil, err
	}
	if err = m.MayStill(ctx, rule.UploadDocument); err == nil {
		row, err = m.addDocument(ctx, c, d)
	}
	if err != nil {
		m.dropBlob(ctx, d.BlobKey())
	}
	return row, err
}

// room is how much an upload may have, in bytes, and what is said of one that has more.
type room struct {
	bytes int64
	full  error
}

// room is that of a context, or that of its company, where no more is left.
func (m Mutation) room(ctx context.Context, into *db.Context, stored db.Stored) (room, error) {
	r := room{into.MaxSize - stored.Size, errTooLarge}
	limit, err := m.Store.Tightest(ctx, into.AccountID, quota.StorageBytes)
	if err == nil && limit.Room() < r.bytes {
		r = room{limit.Room(), limit}
	}
	return r, err
}

// writeOriginal puts an original into the blob store and measures it on the way.
func (m Mutation) writeOriginal(ctx context.Context, d *db.Document, body io.Reader, room room) error {
	content, err := extract.Passing(extract.Format(d.Format), body)
	if err != nil {
		return refusedFile(err)
	}
	in := &meter{r: content, hash: sha256.New(), room: room}
	if err := m.writeBlob(ctx, d.BlobKey(), in); err != nil {
		return err
	}
	d.Size, d.ContentHash = in.size, hex.EncodeToString(in.hash.Sum(nil))
	return nil
}

// writeBlob puts a file into the blob store, and measures it on the way. Unless it is kept, it is deleted a day later.
func (m Mutation) writeBlob(ctx context.Context, key string, in *meter) error {
	if err := m.Store.BeginBlob(ctx, key); err != nil {
		return err
	}
	err := m.Blobs.Write(ctx, key, in)
	switch {
	case in.err != nil: // nothing was written
		if err := m.Store.KeepBlob(context.WithoutCancel(ctx), key); err != nil {
			m.Log.WarnContext(ctx, "a file that was not written is deleted a day later", "key", key, "error", err)
		}
		return refusedFile(in.err)
	case err != nil:
		return problem.Away("the document store", err)
	}
	return nil
}

// keepBlob tells in a transaction that a file of the blob store is kept.
func keepBlob(ctx context.Context, tx *db.Store, key string) error {
	err := tx.KeepBlob(ctx, key)
	if errors.Is(err, db.ErrNoRows) {
		return problem.Away("the document store", err)
	}
	return err
}

// errTooLarge says that an upload is more than its context has room for.
var errTooLarge = problem.New(problem.PayloadTooLarge, "the context's documents would be larger than its maxSize together")

// refusedFile is what a caller hears of a file that is not taken: because of its kind, or because it could not
// be read to its end.
func refusedFile(err error) error {
	var f *extract.Failure
	if errors.As(err, &f) {
		return problem.Bad("%s", f.Message).With(string(f.Reason))
	}
	var p *problem.Error
	if errors.As(err, &p) {
		return p
	}
	return problem.Bad("the file could not be read to its end").Because(err)
}

// meter counts and hashes what passes, and ends an upload that is too large.
type meter struct {
	r    io.Reader
	hash hash.Hash
	size int64
	room room
	err  error
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	m.size += int64(n)
	_, _ = m.hash.Write(p[:n]) // never fails, by its documentation
	if m.size > m.room.bytes {
		n, err = 0, m.room.full
	}
	if err != nil && !errors.Is(err, io.EOF) {
		m.err = err
	}
	return n, err
}

// addDocument adds the row. The context is held meanwhile, so uploads at the same time can't pass its
// size together.
func (m Mutation) addDocument(ctx context.Context, c *caller, d db.Document) (row *db.Document, err error) {
	err = m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		into, err := tx.ContextForUpdate(ctx, c.desk(), d.ContextID)
		if err != nil {
			return missing(err, "context", d.ContextID)
		}
		stored, err := into.Stored(ctx, tx, d.OriginalName)
		if err != nil {
			return err
		}
		if stored.Size+d.Size > into.MaxSize {
			return errTooLarge
		}
		d.NameIndex = stored.NextIndex
		d.DisplayName = displayName(d.OriginalName, d.NameIndex)
		if row, err = tx.InsertDocument(ctx, d); err != nil {
			return err
		}
		if err := keepBlob(ctx, tx, d.BlobKey()); err != nil {
			return err
		}
		ch.tellDocuments(row.ContextID, row.ID)
		return ch.audit(c.CustomerID, audit.DocumentUploaded, row, audit.Created(row))
	})
	return row, err
}

// dropBlob takes a file back whose row did not come about. If that fails, too, it is deleted a day later.
func (m Mutation) dropBlob(ctx context.Context, key string) {
	ctx = context.WithoutCancel(ctx)
	err := m.Blobs.Delete(ctx, key)
	if err == nil {
		err = m.Store.KeepBlob(ctx, key)
	}
	if err != nil {
		m.Log.WarnContext(ctx, "a file that nothing has is deleted a day later", "key", key, "error", err)
	}
}

// fileName is the last part of a name as a client sends it, without what a name can't have.
func fileName(sent string) string {
	name := path.Base(strings.ReplaceAll(strings.ToValidUTF8(sent, "\uFFFD"), `\`, "/"))
	name = strings.TrimSpace(unseen.Without(name))
	if r := []rune(name); len(r) > maxName {
		ext := []rune(path.Ext(name))
		keep := max(0, maxName-len(ext))
		name = string(r[:keep]) + string(ext[:min(len(ext), maxName)])
	}
	return name
}

// displayName tells documents of equal names apart: report.pdf, report (1).pdf, … A long name is cut, so that it is no longer than one that is given.
func displayName(name string, index int) string { return numbered(name, index, maxName) }

// isOwnName tells whether a document of the name is shown by its own name, and not by one that somebody has given it. Once a long one was not cut.
func isOwnName(shown, name string, index int) bool {
	return shown == displayName(name, index) || shown == numbered(name, index, math.MaxInt)
}

// numbered is a name with a number, of so many characters at most; without one it stays as it is.
func numbered(name string, index, most int) string {
	if index == 0 {
		return name
	}
	ext := path.Ext(name)
	behind := fmt.Sprintf(" (%d)%s", index, ext)
	stem := []rune(strings.TrimSuffix(name, ext))
	return string(stem[:min(len(stem), max(0, most-utf8.RuneCountInString(behind)))]) + behind
}
