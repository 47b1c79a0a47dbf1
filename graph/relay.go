package graph

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"canopy/internal/access"
	"canopy/internal/hop"
	"canopy/internal/problem"
)

// refused is where a subscription is, which could not be begun here.
type refused struct{ place *problem.Place }

type refusedKey struct{}

// refusedFor notes of a refusal that another cell has what was to be listened to.
func refusedFor(ctx context.Context, p *problem.Error) {
	if at, _ := ctx.Value(refusedKey{}).(*refused); at != nil && at.place == nil {
		at.place = p.Place
	}
}

// InterceptOperation begins a subscription, in the cell that has what it listens to.
func (h hops) InterceptOperation(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	oc := graphql.GetOperationContext(ctx)
	if !h.cells.Passes(ctx) || oc.Operation.Operation != ast.Subscription {
		return next(ctx)
	}
	at := &refused{}
	here := next(context.WithValue(ctx, refusedKey{}, at))
	if at.place == nil {
		return here
	}
	events, err := h.listen(ctx, oc, *at.place)
	if err != nil {
		h.tell(ctx, err)
		return graphql.OneShot(&graphql.Response{Errors: gqlerror.List{face(ctx, problem.From(err))}})
	}
	return events
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
	lines := bufio.NewReader(res.Body)
	over := false
	return func(ctx context.Context) *graphql.Response {
		if over {
			return nil
		}
		event, data, err := nextEvent(lines)
		if err == nil && event == "next" {
			var heard struct {
				Data   json.RawMessage `json:"data"`
				Errors gqlerror.List   `json:"errors"`
			}
			if err = json.Unmarshal(data, &heard); err == nil {
				return &graphql.Response{Data: heard.Data, Errors: heard.Errors}
			}
		}
		over = true
		if err == nil || ctx.Err() != nil { // it is complete, or nobody listens
			return nil
		}
		return &graphql.Response{Errors: gqlerror.List{face(ctx, hop.Away(to, err))}}
	}, nil
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
