package graph

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"golang.org/x/sync/errgroup"

	"canopy/internal/access"
	"canopy/internal/hop"
	"canopy/internal/problem"
	"canopy/internal/share"
)

// refused tells of a subscription that could not be begun here, and where it is, if another cell has what it is about.
type refused struct {
	is    bool
	place *problem.Place
}

type refusedKey struct{}

// refusedFor notes of a refusal that another cell has what was to be listened to.
func refusedFor(ctx context.Context, p *problem.Error) {
	if at, _ := ctx.Value(refusedKey{}).(*refused); at != nil && at.place == nil {
		at.is, at.place = true, p.Place
	}
}

// InterceptOperation begins a subscription, in the cell that has what it listens to, or in each that can have something of it.
func (h hops) InterceptOperation(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	oc := graphql.GetOperationContext(ctx)
	if !h.cells.Passes(ctx) || oc.Operation.Operation != ast.Subscription {
		return next(ctx)
	}
	at := &refused{}
	events := next(context.WithValue(ctx, refusedKey{}, at))
	var err error
	switch {
	case at.place != nil:
		events, err = h.listen(ctx, oc, *at.place)
	case !at.is && graphql.CollectFields(oc, oc.Operation.SelectionSet, []string{rootTypes[ast.Subscription]})[0].Name == "auditEvent":
		events, err = h.spread(ctx, oc, events)
	}
	if err != nil {
		h.tell(ctx, err)
		return graphql.OneShot(&graphql.Response{Errors: gqlerror.List{face(ctx, problem.From(err))}})
	}
	return events
}

// spread listens to the audit log in the other cells, too, that can have something of what the caller hears, for as long as these are all.
func (h hops) spread(ctx context.Context, oc *graphql.OperationContext, here graphql.ResponseHandler) (graphql.ResponseHandler, error) {
	places, err := h.resolver.OthersWithEvents(ctx)
	if err != nil {
		return here, err
	}
	sources := make([]graphql.ResponseHandler, len(places), len(places)+2)
	var all errgroup.Group
	for i, place := range places {
		place.OfRows = true // it tells what it has itself
		all.Go(func() error {
			return share.Guard(func() (err error) {
				sources[i], err = h.listen(ctx, oc, place)
				return err
			})
		})
	}
	if err := all.Wait(); err != nil {
		return nil, err
	}
	return merged(append(sources, here, changed(places, h.resolver.OthersWithEvents))), nil
}

// lookAgain is how often it is looked whether other cells than those that are listened to can have something of it.
const lookAgain = 10 * time.Second

// changed ends what is listened to when others can have something of it than are known.
func changed(known []problem.Place, look func(context.Context) ([]problem.Place, error)) graphql.ResponseHandler {
	over := false
	return func(ctx context.Context) *graphql.Response {
		for !over {
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(lookAgain):
			}
			now, err := look(ctx)
			at := slices.IndexFunc(now, func(p problem.Place) bool {
				return !slices.ContainsFunc(known, func(k problem.Place) bool { return k.Region == p.Region })
			})
			if err != nil || at < 0 { // what is away or out of reach ends by itself, and who has gone has nothing to tell
				continue
			}
			over = true
			return &graphql.Response{Errors: gqlerror.List{face(ctx, &problem.Error{
				Code: problem.Unavailable, Region: now[at].Region, RetryAfter: time.Second,
				Detail: "another cell has something of what is listened to, from now on: subscribe again, and look at what has changed meanwhile",
			})}}
		}
		return nil
	}
}

// word is what a source of events tells next; nothing where it ends.
type word struct {
	said *graphql.Response
	err  error
}

// merged tells what several sources tell, as it comes, until the first of them ends: its last word is the last one.
func merged(sources []graphql.ResponseHandler) graphql.ResponseHandler {
	words := make(chan word)
	begun, over := false, false
	return func(ctx context.Context) *graphql.Response {
		if !begun {
			begun = true
			for _, source := range sources {
				go hear(ctx, source, words)
			}
		}
		if over {
			return nil
		}
		select {
		case w := <-words:
			over = w.said == nil
			if w.err != nil {
				return &graphql.Response{Errors: gqlerror.List{face(ctx, problem.From(w.err))}}
			}
			return w.said
		case <-ctx.Done():
			return nil
		}
	}
}

// hear passes on what a source tells, until it ends or nobody listens.
func hear(ctx context.Context, source graphql.ResponseHandler, words chan<- word) {
	for on := true; on; {
		said, err := share.Guarded(func() (*graphql.Response, error) { return source(ctx), nil })
		on = said != nil
		select {
		case words <- word{said, err}:
		case <-ctx.Done():
			return
		}
	}
}

// listen has another cell tell what a subscription is told, event by event, until the context ends.
func (h hops) listen(ctx context.Context, oc *graphql.OperationContext, to problem.Place) (graphql.ResponseHandler, error) {
	r, _, err := asks{oc.RawQuery, oc.OperationName, oc.Variables}.request(ctx, typeEvents)
	if err != nil {
		return nil, err
	}
	res, err := h.cells.Ask(r, to, access.BranchOf(ctx))
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { _ = res.Body.Close() })
	lines := bufio.NewReader(heard{res.Body})
	over := false
	return func(ctx context.Context) *graphql.Response {
		if over {
			return nil
		}
		event, data, err := nextEvent(lines)
		if err == nil && event == "next" {
			var said struct {
				Data   json.RawMessage `json:"data"`
				Errors gqlerror.List   `json:"errors"`
			}
			if err = json.Unmarshal(data, &said); err == nil {
				return &graphql.Response{Data: said.Data, Errors: said.Errors}
			}
		}
		over = true
		if err == nil || ctx.Err() != nil { // it is complete, or nobody listens
			return nil
		}
		return &graphql.Response{Errors: gqlerror.List{face(ctx, hop.Away(to, err))}}
	}, nil
}

// silence is how long another cell may say nothing while it is listened to: each says every 15 seconds that it is there.
const silence = 45 * time.Second

// heard is a stream of another cell, which breaks off where that is silent.
type heard struct{ io.ReadCloser }

// Read implements io.Reader.
func (h heard) Read(p []byte) (int, error) {
	defer time.AfterFunc(silence, func() { _ = h.Close() }).Stop()
	return h.ReadCloser.Read(p)
}

// nextEvent reads a server-sent event; comments and what has no name are passed over.
func nextEvent(from *bufio.Reader) (event string, data []byte, err error) {
	for {
		line, err := from.ReadString('\n')
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return "", nil, err
		}
		line = strings.TrimRight(line, "\r\n")
		switch name, value, _ := strings.Cut(line, ":"); {
		case line == "" && event != "":
			return event, data, nil
		case name == "event":
			event = strings.TrimPrefix(value, " ")
		case name == "data":
			data = append(data, strings.TrimPrefix(value, " ")...)
		}
	}
}
