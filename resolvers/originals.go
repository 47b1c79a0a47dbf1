package resolvers

import (
	"context"
	"errors"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"canopy/db"
	"canopy/internal/blob"
	"canopy/internal/globalid"
	"canopy/internal/problem"
	"canopy/internal/rule"
)

// originalLinkLife is how long the link to an original can be followed.
const originalLinkLife = 5 * time.Minute

// errNoOriginal is what all links hear that lead nowhere, or no longer.
var errNoOriginal = problem.Missing("there is no such original, or the link to it has expired")

// Original is the file that a document was uploaded as. Nothing but the file is held while it is read.
type Original struct {
	Document *db.Document
	Content  io.ReadSeekCloser
}

// Disposition is the Content-Disposition with which an original is given (RFC 6266): to be kept under the name that it
// was uploaded with, and never to be shown in the platform's own origin.
func Disposition(d *db.Document) string {
	plain := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || strings.ContainsRune(`"\%`, r) {
			return '_'
		}
		return r
	}, d.OriginalName)
	value := `attachment; filename="` + plain + `"`
	if plain != d.OriginalName {
		// Everything but letters, digits and -._~ is escaped: what RFC 8187 lets stand is more.
		value += "; filename*=UTF-8''" + strings.ReplaceAll(url.QueryEscape(d.OriginalName), "+", "%20")
	}
	return value
}

// Original opens the original of a document of the caller's contexts, to be closed by the caller.
func (q Query) Original(ctx context.Context, id globalid.ID) (*Original, error) {
	c, err := q.may(ctx, rule.DocumentOriginalURL)
	if err != nil {
		return nil, err
	}
	d, err := q.Store.Document(ctx, c.desk(), id.Int)
	if err != nil {
		return nil, missing(err, "document", id.Int)
	}
	return q.open(ctx, d)
}

// LinkedOriginal opens the original that a link leads to, whoever has come with it.
func (r *Resolver) LinkedOriginal(ctx context.Context, id int64, token string) (*Original, error) {
	if !r.leads(db.SealedOriginalLinks, id, token) {
		return nil, errNoOriginal
	}
	d, err := r.Store.Original(ctx, id)
	if errors.Is(err, db.ErrNoRows) {
		return nil, errNoOriginal
	}
	if err != nil {
		return nil, err
	}
	return r.open(ctx, d)
}

func (r *Resolver) open(ctx context.Context, d *db.Document) (*Original, error) {
	if r.Blobs == nil {
		return nil, problem.Missing("this platform has no store of documents")
	}
	content, err := r.Blobs.Open(ctx, d.BlobKey())
	switch {
	case errors.Is(err, blob.ErrNotFound):
		return nil, problem.Missing("the original of the document %d is not in the store", d.ID)
	case err != nil:
		return nil, problem.Away("the document store", err)
	}
	return &Original{d, content}, nil
}

// OriginalURL is a link to the document's original, which needs no token: the store's own, where it has such; nil where the
// platform has no store.
func (e DocumentEdges) OriginalURL(ctx context.Context, obj *db.Document) (*string, error) {
	if _, err := e.may(ctx, rule.DocumentOriginalURL); err != nil {
		return nil, err
	}
	if e.Blobs == nil {
		return nil, nil
	}
	address, err := e.Blobs.Link(ctx, obj.BlobKey(), originalLinkLife, blob.Attachment{ContentType: obj.ContentType, Disposition: Disposition(obj)})
	switch {
	case err != nil:
		return nil, problem.Away("the document store", err)
	case address != "":
		return &address, nil
	}
	return e.signed(e.PublicURL.JoinPath("v1", "documents", strconv.FormatInt(obj.ID, 10), "original"), db.SealedOriginalLinks, obj.ID, originalLinkLife), nil
}
