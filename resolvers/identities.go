package resolvers

import (
	"context"

	"canopy/db"
	"canopy/internal/audit"
	"canopy/internal/globalid"
	"canopy/internal/paging"
	"canopy/internal/rule"
)

// Identities are those that the user has at identity providers of companies within reach.
func (e UserEdges) Identities(ctx context.Context, obj *db.User) ([]*db.UserIdentity, error) {
	c, err := e.may(ctx, rule.UserIdentities)
	if err != nil {
		return nil, err
	}
	return obj.Identities(ctx, e.Store, c.Scope())
}

// GetUserIdentity gives one identity at a provider of a company within reach.
func (q Query) GetUserIdentity(ctx context.Context, id globalid.ID) (*db.UserIdentity, error) {
	c, err := q.may(ctx, rule.UserIdentities)
	if err != nil {
		return nil, err
	}
	row, err := q.Store.UserIdentity(ctx, c.Scope(), id.Int)
	return row, c.unreached(err, "identity", id.Int)
}

func (q Query) userIdentityNode(ctx context.Context, id globalid.ID) (*db.UserIdentity, error) {
	return q.GetUserIdentity(ctx, id)
}

// ListUserIdentities gives each identity that a user within reach, by default the caller, has at providers of companies within reach, by id. after is the cursor
// of an earlier call; limit 0 gives all.
func (q Query) ListUserIdentities(ctx context.Context, userID *globalid.ID, after paging.Cursor, limit int, each func(*db.UserIdentity) error) error {
	c, err := q.may(ctx, rule.UserIdentities)
	if err != nil {
		return err
	}
	user, err := q.user(ctx, c, or(userID, globalid.ID{Int: c.UserID}), "userId")
	if err != nil {
		return err
	}
	rows, err := user.Identities(ctx, q.Store, c.Scope())
	for _, i := range rows {
		if i.ID <= lastID(after) {
			continue
		}
		if err := each(i); err != nil {
			return err
		}
		if limit--; limit == 0 {
			break
		}
	}
	return err
}

// UserIdentityEdges resolves what an identity leads to.
type UserIdentityEdges struct{ *Resolver }

// Provider is where the user is known by the identity.
func (e UserIdentityEdges) Provider(ctx context.Context, obj *db.UserIdentity) (*db.IdentityProvider, error) {
	return obj.Provider(ctx, e.Store, reach(ctx))
}

// User is who it is; nil for who is not within reach.
func (e UserIdentityEdges) User(ctx context.Context, obj *db.UserIdentity) (*db.User, error) {
	return obj.User(ctx, e.Store, reach(ctx))
}

// UnlinkIdentityInput names an identity to forget.
type UnlinkIdentityInput struct{ ID globalid.ID }

// UnlinkIdentityPayload tells what UnlinkIdentity forgot.
type UnlinkIdentityPayload struct{ DeletedID globalid.ID }

// UnlinkIdentity forgets who a user is at an identity provider, and ends the sessions that come from there.
func (m Mutation) UnlinkIdentity(ctx context.Context, in UnlinkIdentityInput) (*UnlinkIdentityPayload, error) {
	c, err := m.may(ctx, rule.UnlinkIdentity)
	if err != nil {
		return nil, err
	}
	n, err := in.ID.Of("UserIdentity", "id")
	if err != nil {
		return nil, err
	}
	out := &UnlinkIdentityPayload{}
	return out, m.change(ctx, c, func(tx *db.Store, ch *changes) error {
		row, err := tx.UserIdentityForUpdate(ctx, c.Scope(), n)
		if err != nil {
			return c.unreached(err, "identity", n)
		}
		if err := c.mayAdmit(ctx, tx); err != nil {
			return err
		}
		provider, err := tx.IdentityProvider(ctx, c.Scope(), row.ProviderID)
		if err != nil {
			return c.unreached(err, "identity", n)
		}
		out.DeletedID = row.GlobalID()
		if err := tx.DropIdentity(ctx, row.ID); err != nil {
			return err
		}
		if err := ch.endProvided(ctx, provider, row.Subject, "", audit.None()); err != nil {
			return err
		}
		return ch.audit(provider.CustomerID, audit.UserIdentityUnlinked, &db.User{ID: row.UserID}, audit.Removed(row))
	})
}

// endProvided ends the sessions that come from a subject's sign-ins at a provider, or from one of them, and tells of each.
func (ch *changes) endProvided(ctx context.Context, p *db.IdentityProvider, subject, sid string, what audit.Changes) error {
	ended, err := ch.tx.EndProvided(ctx, p.ID, subject, sid)
	if err != nil {
		return err
	}
	for _, s := range ended {
		ch.callers = append(ch.callers, s.UserID)
		if err := ch.audit(s.CustomerID, audit.SessionEnded, s, what.Value("endedAt", nil, s.EndedAt).With("user", s.UserID)); err != nil {
			return err
		}
	}
	return nil
}
