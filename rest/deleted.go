package rest

import (
	"context"
	"time"

	"canopy/db"
)

// deleted is something that was deleted and can be brought back.
type deleted struct {
	ID              int64     `json:"id"`
	Name            string    `json:"name"`
	DeletedAt       time.Time `json:"deletedAt" doc:"When it was deleted"`
	RestorableUntil time.Time `json:"restorableUntil" doc:"Until when it can be brought back"`
}

// DeletedOf asks for what was deleted of a company.
type DeletedOf struct {
	CustomerID int64 `query:"customerId" minimum:"1" doc:"The company; by default the caller's own"`
}

// deletedAnswer is the answer of a list of what can be brought back.
func deletedAnswer(rows []*db.Deleted, err error) (*one[[]deleted], error) {
	list := make([]deleted, len(rows))
	for i, d := range rows {
		list[i] = deleted{ID: d.ID, Name: d.Name, DeletedAt: d.DeletedAt.UTC(), RestorableUntil: d.RestorableUntil.UTC()}
	}
	return &one[[]deleted]{list}, err
}

// contextErasure is how far the erasure of a context is.
type contextErasure struct {
	ID        int64     `json:"id"`
	Name      string    `json:"name"`
	DeletedAt time.Time `json:"deletedAt" doc:"When it was deleted"`
	Progress  float64   `json:"progress" doc:"The part that is erased, 0 to 1"`
}

func (a *api) listContextErasures(ctx context.Context, _ *struct{}) (*one[[]contextErasure], error) {
	rows, err := a.queries().ContextErasures(ctx)
	list := make([]contextErasure, len(rows))
	for i, e := range rows {
		list[i] = contextErasure{ID: e.ID, Name: e.Name, DeletedAt: e.DeletedAt.UTC(), Progress: e.Progress()}
	}
	return &one[[]contextErasure]{list}, err
}
