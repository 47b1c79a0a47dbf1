package rest

import (
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
