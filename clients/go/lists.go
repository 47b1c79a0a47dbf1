package canopy

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"maps"
	"net/http"

	"canopy/clients/go/schema"
)

// jsonRequest is a request without a token whose body is JSON.
func jsonRequest(method, path string, in any) (request, error) {
	raw, err := json.Marshal(in)
	return request{method: method, path: path, contentType: "application/json", body: bytes.NewReader(raw), open: true}, err
}

// Each gives the rows of a list, page after page, and an error where one was not had. The query has $after, and asks for the page's
// hasNextPage and endCursor; page finds the rows and these in what was answered.
func Each[T, Row any](ctx context.Context, c *Client, query string, variables map[string]any, page func(*T) ([]Row, *schema.PageInfo)) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		given := maps.Clone(variables)
		if given == nil {
			given = map[string]any{}
		}
		for {
			var data T
			if err := c.GraphQL(ctx, query, given, &data); err != nil {
				var none Row
				yield(none, err)
				return
			}
			rows, info := page(&data)
			for _, row := range rows {
				if !yield(row, nil) {
					return
				}
			}
			if info == nil || !info.HasNextPage || info.EndCursor == nil {
				return
			}
			given["after"] = *info.EndCursor
		}
	}
}

// Subscribe gives what a subscription tells, until it ends, which an error tells of unless the platform has completed it. T is what data
// has.
func Subscribe[T any](ctx context.Context, c *Client, query string, variables map[string]any) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		raw, err := json.Marshal(map[string]any{"query": query, "variables": variables})
		if err != nil {
			yield(nil, err)
			return
		}
		resp, err := c.open(ctx, request{
			method: http.MethodPost, path: "/graphql", contentType: "application/json", accept: "text/event-stream", body: bytes.NewReader(raw),
		})
		if err != nil {
			yield(nil, err)
			return
		}
		defer func() { _ = resp.Body.Close() }()
		for e, err := range events(resp.Body) {
			if err != nil {
				yield(nil, &lost{err})
				return
			}
			if e.name == "complete" {
				return
			}
			if !tell(e.data, yield) {
				return
			}
		}
	}
}

// tell passes one result on, and tells whether there is to be another.
func tell[T any](data string, yield func(*T, error) bool) bool {
	var answer struct {
		Data   *T
		Errors Errors
	}
	if err := json.Unmarshal([]byte(data), &answer); err != nil {
		yield(nil, err)
		return false
	}
	if len(answer.Errors) > 0 {
		yield(answer.Data, answer.Errors)
		return false
	}
	return yield(answer.Data, nil)
}
