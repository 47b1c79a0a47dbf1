package rest

import (
	"net/http"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/hop"
	"canopy/internal/intake"
	"canopy/internal/problem"
	"canopy/internal/web"
)

// serveRows answers other cells of the platform, which ask for the rows of a list that this one has. For anybody else there is nothing at the path.
func (a *api) serveRows(mux *http.ServeMux) {
	mux.HandleFunc(hop.RowsPath, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || !hop.OfRows(r.Context()) {
			NotFound(w, r)
			return
		}
		web.TellOperation(r.Context(), "rows")
		answer, err := a.rows(w, r)
		if err != nil {
			sendProblem(w, r, a.failure(r.Context(), err))
			return
		}
		w.Header().Set("Content-Type", jsonType)
		_, _ = w.Write(answer)
	})
}

func (a *api) rows(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	ctx, err := a.r.Admit(r.Context(), r.Header.Get("Authorization"))
	if err != nil {
		return nil, err
	}
	if p := access.PrincipalOf(ctx); p != nil {
		web.TellCaller(ctx, p.CustomerID, p.UserID, p.ClientID)
	}
	question, err := intake.ReadBody(w, r)
	if err != nil {
		return nil, problem.Bad("the question could not be read").Because(err)
	}
	return a.r.AnswerRows(db.Reading(ctx), question)
}
