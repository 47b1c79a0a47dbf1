package rest

import (
	"context"
	"net/http"

	"canopy/internal/globalid"
	"canopy/internal/rule"
	"canopy/resolvers"
)

func (p *CustomerPath) id() globalid.ID { return globalid.ID{Int: p.CID} }

func (a *api) registerCustomerStatus() {
	const path = "/tenant/customer/{cid}"
	add(a, operation{
		id: "suspendCustomer", rule: rule.SuspendCustomer, method: http.MethodPost, path: path + "/suspend", tag: tagCustomers, errors: []int{http.StatusNotFound}, status: http.StatusOK,
		summary: "Suspend a company", description: "Suspends an active company with everything below it, at once: nobody acts for it any more, and its deliveries and runs wait. Only from above.",
		names: map[string]string{"id": "cid"},
	}, func(ctx context.Context, in *CustomerPath) (*one[customerDetails], error) {
		out, err := a.mutations().SuspendCustomer(ctx, resolvers.SuspendCustomerInput{ID: in.id()})
		if err != nil {
			return nil, err
		}
		return a.detailsOf(ctx, out.Customer)
	})
	add(a, operation{
		id: "resumeCustomer", rule: rule.ResumeCustomer, method: http.MethodPost, path: path + "/resume", tag: tagCustomers, errors: []int{http.StatusNotFound}, status: http.StatusOK,
		summary: "Resume a company", description: "Ends a company's suspension: what has waited goes on, unless a company above is suspended. Only from above.",
		names: map[string]string{"id": "cid"},
	}, func(ctx context.Context, in *CustomerPath) (*one[customerDetails], error) {
		out, err := a.mutations().ResumeCustomer(ctx, resolvers.ResumeCustomerInput{ID: in.id()})
		if err != nil {
			return nil, err
		}
		return a.detailsOf(ctx, out.Customer)
	})
	add(a, operation{
		id: "deleteCustomer", rule: rule.DeleteCustomer, method: http.MethodDelete, path: path, tag: tagCustomers, errors: []int{http.StatusNotFound}, status: http.StatusAccepted,
		summary: "Delete a company", description: "Deletes a company with everything below it: at once it is as suspended, and left out of lists; from eraseAt on it is erased. Only from above.",
		names: map[string]string{"id": "cid"},
	}, func(ctx context.Context, in *CustomerPath) (*one[customerDetails], error) {
		out, err := a.mutations().DeleteCustomer(ctx, resolvers.DeleteCustomerInput{ID: in.id()})
		if err != nil {
			return nil, err
		}
		return a.detailsOf(ctx, out.Customer)
	})
	add(a, operation{
		id: "restoreCustomer", rule: rule.RestoreCustomer, method: http.MethodPost, path: path + "/restore", tag: tagCustomers, errors: []int{http.StatusNotFound}, status: http.StatusOK,
		summary: "Restore a company", description: "Takes the deletion of a company back, until it is erased. It is then as suspended, or not, as it was before. Only from above.",
		names: map[string]string{"id": "cid"},
	}, func(ctx context.Context, in *CustomerPath) (*one[customerDetails], error) {
		out, err := a.mutations().RestoreCustomer(ctx, resolvers.RestoreCustomerInput{ID: in.id()})
		if err != nil {
			return nil, err
		}
		return a.detailsOf(ctx, out.Customer)
	})
}
