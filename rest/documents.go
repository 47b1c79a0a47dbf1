package rest

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"canopy/db"
	"canopy/internal/extract"
	"canopy/internal/globalid"
	"canopy/internal/intake"
	"canopy/internal/paging"
	"canopy/internal/problem"
	"canopy/internal/rule"
	"canopy/resolvers"
)

// trainingDocument is an uploaded document.
type trainingDocument struct {
	ID           int64      `json:"id"`
	ContextID    int64      `json:"contextId"`
	FileName     string     `json:"fileName" format:"uuid" doc:"The storage name, as the upload answered it"`
	OriginalName string     `json:"originalName" doc:"The name at upload"`
	DisplayName  string     `json:"displayName" doc:"The name to show; it tells documents of equal names apart"`
	NameIndex    int        `json:"nameIndex" doc:"Counts the context's documents of equal names from 0"`
	ContentType  string     `json:"contentType" doc:"The MIME type"`
	ContentHash  string     `json:"contentHash" doc:"SHA-256 of the file, hexadecimal"`
	Size         int64      `json:"size" doc:"Bytes"`
	Attributes   attributes `json:"attributes" doc:"What is said of it: strings, numbers and booleans"`
	Chunks       int        `json:"chunks" doc:"The number of chunks of a ready document; of another those that it has of before"`
	Created      time.Time  `json:"created"`
	CreatedBy    *int64     `json:"createdBy" doc:"The user who uploaded it; null when that user is gone"`
	Started      *time.Time `json:"started" doc:"When its processing began; null before"`
	Completed    *time.Time `json:"completed" doc:"When its processing ended; null before"`
	Status       string     `json:"status" enum:"pending,processing,ready,failed" doc:"How far its processing has come"`
	Progress     float64    `json:"progress" doc:"The part of the processing that is done, 0 to 1"`
	Error        *string    `json:"error" doc:"What went wrong, for a person; null when nothing did"`
	Warnings     warnings   `json:"warnings" doc:"What a ready document lacks, such as text on some of its pages"`
}

// documentWarning tells what a ready document lacks.
type documentWarning struct {
	Code    string `json:"code" doc:"no_text where pages have no text; not_reprocessed where the document could not be processed anew, and is found as it was before"`
	Message string `json:"message" doc:"A sentence for a person"`
	Page    *int   `json:"page" doc:"The first page that it is about; null where it is about none"`
}

// warnings are a list of documentWarning, as it is stored.
type warnings struct{ json.RawMessage }

// Schema documents them.
func (warnings) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeArray, Items: r.Schema(reflect.TypeFor[documentWarning](), true, "DocumentWarning")}
}

func documentOf(d *db.Document) trainingDocument {
	b := trainingDocument{
		ID: d.ID, ContextID: d.ContextID, FileName: d.FileName, OriginalName: d.OriginalName, DisplayName: d.DisplayName,
		NameIndex: d.NameIndex, ContentType: d.ContentType, ContentHash: d.ContentHash, Size: d.Size, Attributes: attributes{d.Attributes}, Chunks: d.ChunkCount,
		Created: d.CreatedAt.UTC(), CreatedBy: d.CreatedBy, Started: utc(d.StartedAt), Completed: utc(d.CompletedAt),
		Status: d.Status, Progress: d.Progress, Warnings: warnings{d.Warnings},
	}
	if d.Error != "" {
		b.Error = &d.Error
	}
	return b
}

type listDocumentsOf struct {
	ContextPath
	Pages
	OrderQuery
	DocumentFilter

	filter *resolvers.DocumentFilter
}

// Resolve tells what was given from what was left out.
func (q *listDocumentsOf) Resolve(hc huma.Context) []error {
	q.filter = filterGiven[resolvers.DocumentFilter](hc, &q.DocumentFilter)
	return nil
}

type deleteDocumentInput struct {
	ContextPath
	DocID      int64 `path:"docId" doc:"The document's id"`
	Restorable bool  `query:"restorable" doc:"Keeps it for 30 days, in which it can be restored; until then it counts against the limits"`
}

func (a *api) registerDocuments() {
	a.registerUpload()
	addList(a, operation{
		id: "listDocuments", rule: rule.ContextDocuments, orders: db.Documents, path: "/context/documents/{contextId}", tag: tagContexts, errors: []int{http.StatusNotFound},
		summary: "List the documents", description: "The documents of a context, whatever has come of their processing.",
	}, anyOrder, func(ctx context.Context, in *listDocumentsOf, _ query, each emit[trainingDocument]) error {
		return a.queries().ListDocuments(ctx, in.id(), in.filter, in.listing(&in.Pages), func(d *db.Document, at paging.Cursor) error {
			return each(documentOf(d), at)
		})
	})
	add(a, operation{
		id: "deleteDocument", conditions: byMatch, rule: rule.DeleteDocument, method: http.MethodDelete, path: "/context/documents/{contextId}/{docId}", tag: tagContexts,
		errors: []int{http.StatusNotFound}, status: http.StatusOK, names: map[string]string{"id": "docId"},
		summary: "Delete a document", description: "Removes the document and its embeddings: for good, or, with restorable, so that it can be restored for 30 days.",
	}, func(ctx context.Context, in *deleteDocumentInput) (*one[gone], error) {
		within := in.id()
		_, err := a.mutations().DeleteDocument(ctx, resolvers.DeleteDocumentInput{
			ID: globalid.ID{Int: in.DocID}, ContextID: &within, IfVersion: ifMatch(ctx), Restorable: &in.Restorable,
		})
		return &one[gone]{gone{true}}, err
	})
	a.registerDeletedDocuments()
	a.registerContextSearch()
}

// registerDeletedDocuments registers what leads to documents and contexts that were deleted, and brings documents back.
func (a *api) registerDeletedDocuments() {
	add(a, operation{
		id: "listDeletedContexts", rule: rule.DeletedContexts, method: http.MethodGet, path: "/context/deleted", tag: tagContexts,
		summary: "List the deleted contexts", description: "Those of the token's account that the caller can restore, the one that was deleted last first; at most 200.",
	}, func(ctx context.Context, _ *struct{}) (*one[[]deleted], error) {
		return deletedAnswer(a.queries().DeletedContexts(ctx))
	})
	add(a, operation{
		id: "listContextErasures", rule: rule.ContextErasures, method: http.MethodGet, path: "/context/erasures", tag: tagContexts,
		summary: "List the contexts that are being erased", description: "Those of the token's account that were deleted for good, or can no more be restored, with how far each is, in the order of their turns; at most 200. One that is gone is not among them.",
	}, a.listContextErasures)
	add(a, operation{
		id: "listDeletedDocuments", rule: rule.ContextDeletedDocuments, method: http.MethodGet, path: "/context/documents/{contextId}/deleted", tag: tagContexts, errors: []int{http.StatusNotFound},
		summary: "List the deleted documents of a context", description: "Those that can be restored, the one that was deleted last first; at most 200.",
	}, func(ctx context.Context, in *ContextPath) (*one[[]deleted], error) {
		return deletedAnswer(a.queries().ListDeletedDocuments(ctx, in.id()))
	})
	add(a, operation{
		id: "restoreDocument", rule: rule.RestoreDocument, method: http.MethodPost, path: "/v1/documents/{id}/restore", tag: tagContexts, errors: []int{http.StatusNotFound, http.StatusRequestEntityTooLarge},
		summary: "Restore a deleted document", description: "Brings a document back to its context, with its chunks, that was deleted as a restorable one within the last 30 days.", status: http.StatusOK,
	}, func(ctx context.Context, in *DocumentPath) (*tagged[trainingDocument], error) {
		out, err := a.mutations().RestoreDocument(ctx, resolvers.RestoreDocumentInput{ID: in.id()})
		if err != nil {
			return nil, err
		}
		return tag(ctx, out.Document.Version, documentOf(out.Document))
	})
}

// Unread is a request whose body the operation itself reads.
type Unread struct{ hc huma.Context }

// Resolve keeps hold of the request.
func (in *Unread) Resolve(hc huma.Context) []error {
	in.hc = hc
	return nil
}

type uploadInput struct {
	ContextPath
	Unread
}

// The fields of the form: the file, and before it what is said of the document, if anything is.
const (
	uploadField     = "file"
	attributesField = "attributes"
)

func (a *api) registerUpload() {
	add(a, operation{
		id: "uploadDocument", rule: rule.UploadDocument, method: http.MethodPost, path: "/context/upload/{contextId}", tag: tagContexts,
		errors: []int{http.StatusNotFound, http.StatusRequestEntityTooLarge}, status: http.StatusOK,
		summary: "Upload a document",
		description: "Stores one document (" + extract.Extensions() + ") and has it processed. The answer is its UUID, " +
			"the fileName of the listing, which tells how the processing goes.",
		upload: &huma.RequestBody{
			Description: "Exactly one file, in the field named file, at the end; before it may stand its attributes", Required: true,
			Content: map[string]*huma.MediaType{intake.FormType: {Schema: &huma.Schema{
				Type: huma.TypeObject, Required: []string{uploadField},
				Properties: map[string]*huma.Schema{
					uploadField:     {Type: huma.TypeString, Format: "binary", Description: "The document"},
					attributesField: {Type: huma.TypeString, Description: "What is said of it: a flat JSON object of at most 32 strings, numbers and booleans"},
				},
			}}},
		},
	}, a.upload)
}

func (a *api) upload(ctx context.Context, in *uploadInput) (*one[string], error) {
	r, w := humago.Unwrap(in.hc)
	var form *intake.Form
	row, err := a.mutations().StoreDocument(ctx, in.id(), func() (u *resolvers.Upload, err error) {
		if form, err = intake.OpenForm(w, r); err != nil {
			return nil, err
		}
		return uploaded(form)
	})
	if err != nil {
		if form != nil {
			form.Drain()
		}
		return nil, err
	}
	return &one[string]{row.FileName}, nil
}

// uploaded gives the file of a form, and what stands before it.
func uploaded(form *intake.Form) (*resolvers.Upload, error) {
	u := &resolvers.Upload{}
	part, err := form.Next()
	if err == nil && part != nil && part.FormName() == attributesField {
		if u.Attributes, err = attributesIn(form, part); err == nil {
			part, err = form.Next()
		}
	}
	if err != nil {
		return nil, err
	}
	file, err := form.FileIn(part, uploadField)
	if err != nil {
		return nil, err
	}
	u.File = *file
	return u, nil
}

// attributesIn reads the attributes of a form.
func attributesIn(form *intake.Form, part io.Reader) (json.RawMessage, error) {
	raw, err := form.Whole(io.LimitReader(part, maxAttributesField+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > maxAttributesField {
		return nil, problem.Invalid(problem.Fault{Location: attributesField, Message: "is longer than 256 KiB"})
	}
	if f := intake.CheckJSON(raw); f != nil {
		return nil, problem.Invalid(problem.Fault{Location: attributesField + strings.TrimPrefix(f.Location, "body"), Message: f.Message})
	}
	return raw, nil
}

// maxAttributesField bounds the attributes of a form, in bytes.
const maxAttributesField = 256 << 10

// attributes are a flat JSON object.
type attributes struct{ json.RawMessage }

// Schema documents them.
func (attributes) Schema(huma.Registry) *huma.Schema {
	value := &huma.Schema{OneOf: []*huma.Schema{{Type: huma.TypeString}, {Type: huma.TypeNumber}, {Type: huma.TypeBoolean}}}
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: value}
}
