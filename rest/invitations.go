package rest

import (
	"context"
	"net/http"
	"strings"
	"time"

	"canopy/db"
	"canopy/internal/globalid"
	"canopy/internal/paging"
	"canopy/internal/rule"
	"canopy/resolvers"
)

// Invitation asks a person to accept a company that has added it.
type Invitation struct {
	ID         int64     `json:"id"`
	CustomerID int64     `json:"customerId" doc:"The company"`
	Email      string    `json:"email" doc:"The address, as the company has entered it"`
	Status     string    `json:"status" enum:"pending,accepted,declined,expired,withdrawn" doc:"What has become of it"`
	CreatedAt  time.Time `json:"createdAt" doc:"When the person was added"`
	ExpiresAt  time.Time `json:"expiresAt" doc:"Until when it can be accepted; signing in to the company accepts it even after that"`
	InvitedBy  *int64    `json:"invitedBy" doc:"Who has added the person; null where the platform did"`
}

func invitationOf(i *db.Invitation) Invitation {
	return Invitation{
		ID: i.ID, CustomerID: i.CustomerID, Email: i.Email, Status: strings.ToLower(i.Status), CreatedAt: i.CreatedAt.UTC(), ExpiresAt: i.ExpiresAt.UTC(), InvitedBy: i.InvitedBy,
	}
}

// InvitationPath names an invitation in the path.
type InvitationPath struct {
	ID int64 `path:"id" doc:"The invitation's id"`
}

func (p *InvitationPath) id() globalid.ID { return globalid.ID{Int: p.ID} }

func (a *api) registerInvitations() {
	const path = "/v1/invitations"
	notFound := []int{http.StatusNotFound}
	addList(a, operation{
		id: "listInvitations", rule: rule.CustomerInvitations, path: path, tag: tagUsers, errors: notFound,
		summary: "List the invitations of a company", description: "The invitations by id.",
	}, 1, func(ctx context.Context, in *CustomerList, q query, each emit[Invitation]) error {
		return a.queries().ListInvitations(ctx, in.customer(), q.after, q.limit, func(i *db.Invitation) error {
			return each(invitationOf(i), paging.IDs(i.ID))
		})
	})
	add(a, operation{
		id: "getInvitation", rule: rule.CustomerInvitations, method: http.MethodGet, path: path + "/{id}", tag: tagUsers, errors: notFound,
		summary: "Get an invitation", description: "An invitation of a company within reach.",
	}, func(ctx context.Context, in *InvitationPath) (*one[Invitation], error) {
		i, err := a.queries().GetInvitation(ctx, in.id())
		if err != nil {
			return nil, err
		}
		return &one[Invitation]{invitationOf(i)}, nil
	})
	add(a, operation{
		id: "withdrawInvitation", rule: rule.WithdrawInvitation, method: http.MethodDelete, path: path + "/{id}", tag: tagUsers, errors: notFound,
		summary: "Withdraw an invitation", description: "Takes an invitation back that was not answered yet, and the person out of the company.",
	}, func(ctx context.Context, in *InvitationPath) (*struct{}, error) {
		_, err := a.mutations().WithdrawInvitation(ctx, resolvers.WithdrawInvitationInput{ID: in.id()})
		return nil, err
	})
	add(a, operation{
		id: "resendInvitation", rule: rule.ResendInvitation, method: http.MethodPost, path: path + "/{id}/resend", tag: tagUsers, errors: notFound,
		summary: "Send an invitation again", description: "Only for a person who has no password; for others it is 400. Of more than five to a person in a day none is sent.", status: http.StatusOK,
	}, func(ctx context.Context, in *InvitationPath) (*one[Invitation], error) {
		id := in.id()
		out, err := a.mutations().ResendInvitation(ctx, resolvers.ResendInvitationInput{ID: &id})
		if err != nil {
			return nil, err
		}
		return &one[Invitation]{invitationOf(out.Invitation)}, nil
	})
}
