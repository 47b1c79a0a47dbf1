package rest

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"canopy/db"
	"canopy/internal/globalid"
	"canopy/internal/rule"
	"canopy/resolvers"
)

// archiveType is the media type of archives.
const archiveType = "application/gzip"

// customerExport is an export of a company.
type customerExport struct {
	ID        int64      `json:"id"`
	Status    string     `json:"status" enum:"pending,running,ready,failed" doc:"How far it is"`
	Progress  float64    `json:"progress" doc:"The part that is done, from 0 to 1"`
	URL       *string    `json:"url" doc:"A link to the archive, for 15 minutes; null while there is none, and for others than who has asked for it and may still read what it holds"`
	CreatedAt time.Time  `json:"createdAt"`
	ExpiresAt *time.Time `json:"expiresAt" doc:"When the export is forgotten, with its archive; null while it is under way"`
}

// startedExport is the answer to who has asked for an export.
type startedExport struct {
	ID int64 `json:"id" doc:"The export's id"`
}

// ExportPath names an export in the path.
type ExportPath struct {
	ID int64 `path:"id" doc:"The export's id"`
}

type archiveInput struct {
	ExportPath
	Token string `query:"token" doc:"What the link to the archive has"`
}

func (a *api) registerExports() {
	notFound := []int{http.StatusNotFound, http.StatusMisdirectedRequest}
	add(a, operation{
		id: "exportCustomer", rule: rule.ExportCustomer, method: http.MethodPost, path: "/tenant/customer/{cid}/export", tag: tagCustomers, errors: notFound, status: http.StatusAccepted,
		summary: "Export a company", description: "Asks for the export of a company with everything below it. One at a time; for an owner of the company itself, or from above.",
		names: map[string]string{"id": "cid"},
	}, func(ctx context.Context, in *CustomerPath) (*one[startedExport], error) {
		out, err := a.mutations().ExportCustomer(ctx, resolvers.ExportCustomerInput{ID: in.id()})
		if err != nil {
			return nil, err
		}
		return &one[startedExport]{startedExport{out.CustomerExport.ID}}, nil
	})
	add(a, operation{
		id: "getExport", rule: rule.CustomerExport, method: http.MethodGet, path: "/tenant/export/{id}", tag: tagCustomers, errors: notFound,
		summary: "Get an export", description: "How far an export is, and a link to its archive for whoever has asked for it.",
	}, a.customerExport)
	add(a, operation{
		id: "getArchive", method: http.MethodGet, path: "/tenant/export/{id}/archive", tag: tagCustomers, public: true, errors: notFound,
		summary: "Get the archive of an export", description: "The archive, for who has a link to it.",
		responses: map[string]*huma.Response{"200": {Description: "The archive", Content: map[string]*huma.MediaType{
			archiveType: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}},
		}}},
	}, a.archive)
}

func (a *api) customerExport(ctx context.Context, in *ExportPath) (*one[customerExport], error) {
	e, err := a.queries().CustomerExport(ctx, globalid.ID{Int: in.ID})
	if err != nil {
		return nil, err
	}
	url, err := resolvers.CustomerExportEdges{Resolver: a.r}.URL(ctx, e)
	if err != nil {
		return nil, err
	}
	return &one[customerExport]{customerExportOf(e, url)}, nil
}

func customerExportOf(e *db.CustomerExport, url *string) customerExport {
	shown := customerExport{
		ID: e.ID, Status: strings.ToLower(e.Status), Progress: e.Progress, URL: url, CreatedAt: e.CreatedAt.UTC(),
	}
	if e.ExpiresAt != nil {
		at := e.ExpiresAt.UTC()
		shown.ExpiresAt = &at
	}
	return shown
}

// archive sends a file, always whole.
func (a *api) archive(ctx context.Context, in *archiveInput) (*huma.StreamResponse, error) {
	export, path, done, err := a.r.Archive(ctx, in.ID, in.Token)
	if err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		done()
		return nil, err
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		defer done()
		defer func() { _ = file.Close() }()
		r, w := humago.Unwrap(hc)
		w.Header().Set("Content-Type", archiveType)
		w.Header().Set("Cache-Control", "private, no-store")
		w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="canopy-export-%d.tar.gz"`, export.ID))
		r.Header.Del("Range")
		http.ServeContent(w, r, "", time.Time{}, file)
	}}, nil
}
