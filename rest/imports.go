package rest

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"canopy/db"
	"canopy/internal/globalid"
	"canopy/internal/intake"
	"canopy/internal/rule"
	"canopy/resolvers"
)

// customerImport is an archive that is read in.
type customerImport struct {
	ID         int64           `json:"id"`
	ParentID   int64           `json:"parentId" doc:"The company below which it is read in"`
	DryRun     bool            `json:"dryRun" doc:"Whether it is only looked at"`
	Size       int64           `json:"size" doc:"How large the archive is, in bytes"`
	Status     string          `json:"status" enum:"pending,running,ready,failed,cancelled" doc:"How far it is"`
	Progress   float64         `json:"progress" doc:"The part of the archive that is read, from 0 to 1"`
	CustomerID *int64          `json:"customerId" doc:"The company that was made of it; null where there is none"`
	Report     json.RawMessage `json:"report" doc:"What was made, left out, and made otherwise; null until it is ready"`
	Error      *string         `json:"error" doc:"Why it was given up, with the place in the archive, or what there is of it and what can be done; null where it was not"`
	CreatedAt  time.Time       `json:"createdAt"`
	ExpiresAt  *time.Time      `json:"expiresAt" doc:"When the import is forgotten; null while it is under way"`
}

// startedImport is the answer to who has asked for an import.
type startedImport struct {
	ID int64 `json:"id" doc:"The import's id"`
}

// ImportPath names an import in the path.
type ImportPath struct {
	ID int64 `path:"id" doc:"The import's id"`
}

type importInput struct {
	CustomerPath
	Unread
	DryRun bool `query:"dryRun" doc:"Look at everything, and write nothing"`
}

func (a *api) registerImports() {
	notFound := []int{http.StatusNotFound}
	add(a, operation{
		id: "importCustomer", rule: rule.ImportCustomer, method: http.MethodPost, path: "/tenant/customer/{cid}/import", tag: tagCustomers,
		errors: []int{http.StatusNotFound, http.StatusRequestEntityTooLarge}, status: http.StatusAccepted,
		summary:     "Import a company",
		description: "Stores the archive of an export, and has it read in below the company. For an owner of the root company with all rights.",
		names:       map[string]string{"parentId": "cid"},
		upload: &huma.RequestBody{
			Description: "Exactly one file, in the field named file", Required: true,
			Content: map[string]*huma.MediaType{intake.FormType: {Schema: &huma.Schema{
				Type: huma.TypeObject, Required: []string{uploadField},
				Properties: map[string]*huma.Schema{uploadField: {Type: huma.TypeString, Format: "binary", Description: "The archive"}},
			}}},
		},
	}, a.importCustomer)
	add(a, operation{
		id: "getImport", rule: rule.CustomerImport, method: http.MethodGet, path: "/tenant/import/{id}", tag: tagCustomers, errors: notFound,
		summary: "Get an import", description: "How far an import is, and what came of it. For an owner of the root company.",
	}, func(ctx context.Context, in *ImportPath) (*one[customerImport], error) {
		row, err := a.queries().CustomerImport(ctx, globalid.ID{Int: in.ID})
		if err != nil {
			return nil, err
		}
		return customerImportAnswer(row), nil
	})
	add(a, operation{
		id: "cancelImport", rule: rule.CancelCustomerImport, method: http.MethodPost, path: "/tenant/import/{id}/cancel", tag: tagCustomers,
		errors: notFound, status: http.StatusOK,
		summary: "Cancel an import", description: "Cancels an import while nothing was made of it. For an owner of the root company.",
	}, func(ctx context.Context, in *ImportPath) (*one[customerImport], error) {
		out, err := a.mutations().CancelCustomerImport(ctx, resolvers.CancelCustomerImportInput{ID: globalid.ID{Int: in.ID}})
		if err != nil {
			return nil, err
		}
		return customerImportAnswer(out.CustomerImport), nil
	})
}

func (a *api) importCustomer(ctx context.Context, in *importInput) (*one[startedImport], error) {
	r, w := humago.Unwrap(in.hc)
	var form *intake.Form
	row, err := a.mutations().StoreArchive(ctx, in.id(), in.DryRun, func() (file *intake.File, err error) {
		if form, err = intake.OpenForm(w, r); err != nil {
			return nil, err
		}
		return form.File(uploadField)
	})
	if err != nil {
		if form != nil {
			form.Drain()
		}
		return nil, err
	}
	return &one[startedImport]{startedImport{row.ID}}, nil
}

func customerImportAnswer(i *db.CustomerImport) *one[customerImport] {
	shown := customerImport{
		ID: i.ID, ParentID: i.ParentID, DryRun: i.DryRun, Size: i.Size, Status: strings.ToLower(i.Status), Progress: i.Progress,
		CustomerID: i.MadeID, Report: orNull(i.ReportJSON()), Error: i.Error, CreatedAt: i.CreatedAt.UTC(),
	}
	if i.ExpiresAt != nil {
		at := i.ExpiresAt.UTC()
		shown.ExpiresAt = &at
	}
	return &one[customerImport]{shown}
}
