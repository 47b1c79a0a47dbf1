package resolvers

import (
	"context"
	"errors"
	"time"

	"canopy/db"
	"canopy/internal/problem"
	"canopy/internal/quota"
	"canopy/internal/roster"
	"canopy/internal/rule"
)

// Operations is how the platform fares, for who runs it.
type Operations struct {
	// Version is that of the process that answers.
	Version string
}

// Operations is for callers of the root company only.
func (q Query) Operations(ctx context.Context) (*Operations, error) {
	c, err := q.may(ctx, rule.Operations)
	if err != nil {
		return nil, err
	}
	if !c.IsRoot() {
		return nil, problem.Denied("only the root company sees how the platform fares")
	}
	return &Operations{q.Version}, nil
}

// OperationsEdges resolves what there is to tell, each only where it is asked for.
type OperationsEdges struct{ *Resolver }

// WorkQueue is what waits for workers, of one kind of work.
type WorkQueue struct {
	// Name is that of the queue of its tasks.
	Name    string
	Waiting int
	// WaitingSince is since when the first of them is due; nil where nothing is.
	WaitingSince *time.Time
}

// Queues tell what is due and was not taken up yet.
func (e OperationsEdges) Queues(ctx context.Context, _ *Operations) ([]*WorkQueue, error) {
	list := []*WorkQueue{}
	for _, kind := range []struct {
		name string
		ask  func(context.Context) (db.Backlog, error)
	}{{"mail", e.Store.MailBacklog}, {"documents", e.Store.DocumentBacklog}, {"runs", e.Store.RunBacklog}, {"webhooks", e.Store.DeliveryBacklog}, {"exports", e.Store.ExportBacklog}, {"imports", e.Store.ImportBacklog}} {
		b, err := kind.ask(ctx)
		if err != nil {
			return nil, err
		}
		q := &WorkQueue{Name: kind.name, Waiting: b.Count}
		if b.Count > 0 {
			since := time.Now().Add(-time.Duration(b.Lag * float64(time.Second))).UTC()
			q.WaitingSince = &since
		}
		list = append(list, q)
	}
	return list, nil
}

// Workers are those that run; nil where that is not known.
func (e OperationsEdges) Workers(ctx context.Context, _ *Operations) ([]*roster.Worker, error) {
	list, err := e.Roster.Workers(ctx)
	if errors.Is(err, roster.ErrAway) {
		return nil, nil
	}
	return list, err
}

// LateMails are mails that did not go out.
func (e OperationsEdges) LateMails(ctx context.Context, _ *Operations) ([]*db.LateMail, error) {
	return e.Store.LateMails(ctx)
}

// FailingDestinations are those to which nothing gets through.
func (e OperationsEdges) FailingDestinations(ctx context.Context, _ *Operations) ([]*db.Destination, error) {
	if _, err := e.may(ctx, rule.OperationsFailingDestinations); err != nil {
		return nil, err
	}
	return e.Store.FailingNow(ctx)
}

// mostBusiest is how many companies Busiest gives at most.
const mostBusiest = 100

// Busiest are the companies right below root that have most of something, or have done most of it.
func (e OperationsEdges) Busiest(ctx context.Context, _ *Operations, by *quota.Name, first *int) ([]*db.Customer, error) {
	if _, err := e.may(ctx, rule.OperationsBusiest); err != nil {
		return nil, err
	}
	of, most := or(by, quota.RunsPerDay), or(first, 20)
	var v check
	if of.PerMinute() {
		v.fault("by", "can't be a rate by the minute: those are counted where there is a limit alone")
	}
	if most < 1 || most > mostBusiest {
		v.fault("first", "must be between 1 and %d", mostBusiest)
	}
	if err := v.err(); err != nil {
		return nil, err
	}
	return e.Store.Busiest(ctx, of, most)
}

// NearLimits are limits that companies have come near, or have reached.
func (e OperationsEdges) NearLimits(ctx context.Context, _ *Operations) ([]*db.NearLimit, error) {
	return e.Store.NearLimits(ctx)
}

// DefaultLimit is what a company right below root may have, unless a limit of its own says otherwise.
type DefaultLimit struct {
	Name  quota.Name
	Limit int64
}

// DefaultLimits are those that the platform was started with.
func (e OperationsEdges) DefaultLimits(context.Context, *Operations) ([]*DefaultLimit, error) {
	list := []*DefaultLimit{}
	for _, name := range quota.Names() {
		if most, there := e.Rates.Defaults[name]; there {
			list = append(list, &DefaultLimit{name, most})
		}
	}
	return list, nil
}

// LateMailEdges resolves the edges of a mail that did not go out.
type LateMailEdges struct{ *Resolver }

// User is whom the mail is for; nil where they are nobody within reach.
func (e LateMailEdges) User(ctx context.Context, obj *db.LateMail) (*db.User, error) {
	if _, err := e.may(ctx, rule.LateMailUser); err != nil {
		return nil, err
	}
	if obj.UserID == nil {
		return nil, nil
	}
	return obj.User(ctx, e.Store, reach(ctx))
}

// Branch is whose mail it is.
func (e LateMailEdges) Branch(ctx context.Context, obj *db.LateMail) (*db.Customer, error) {
	return obj.Branch(ctx, e.Store, reach(ctx))
}

// NearLimitEdges resolves the edge of a limit that was come near.
type NearLimitEdges struct{ *Resolver }

// Customer is whose limit it is.
func (e NearLimitEdges) Customer(ctx context.Context, obj *db.NearLimit) (*db.Customer, error) {
	return obj.Customer(ctx, e.Store, reach(ctx))
}
