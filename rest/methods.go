package rest

import "net/http"

// The paths that take one method only, though a path with a parameter would match them as well:
// GET /tenant/customer is not the company "customer".
var postOnly = []string{"/tenant/customer", "/tenant/user", "/tenant/user/init"}

// registerPostOnly answers 405 for the other methods of those paths.
func registerPostOnly(mux *http.ServeMux) {
	for _, path := range postOnly {
		for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodPatch, http.MethodDelete} {
			mux.HandleFunc(method+" "+path, refusePostOnly)
		}
	}
}

func refusePostOnly(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Allow", http.MethodPost)
	sendProblem(w, r, statusProblem(r.Context(), http.StatusMethodNotAllowed, "this path takes POST only"))
}
