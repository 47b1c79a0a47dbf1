package resolvers

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"golang.org/x/sync/errgroup"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/globalid"
	"canopy/internal/hop"
	"canopy/internal/paging"
	"canopy/internal/problem"
	"canopy/internal/rule"
	"canopy/internal/share"
)

// spread is a list of what companies of several regions have, each in its cell. The cell that is asked asks the others, side by side and each once, for what a page of their own would be, and
// puts the rows together: below both doors, so that what they show is the same.
type spread[T listed] struct {
	name  string
	rule  *rule.Rule
	list  *db.List
	find  func(*db.Store, context.Context, access.Scope, db.Ask) ([]T, error)
	count func(*db.Store, context.Context, access.Scope, db.Ask) (int, error)
	merge func(*db.List, db.Ask, ...[]T) []T
	// there says of rows where they are; nil where all that hangs from them is in the directory.
	there func([]T, problem.Place)
	// atHome: the home has rows of all companies, whatever their region.
	atHome bool
}

var (
	spreadRuns = &spread[*db.Run]{
		name: "runs", rule: rule.Runs, list: db.Runs, find: (*db.Store).FindRuns, count: (*db.Store).CountRuns, merge: db.Merged[db.Run], there: db.There[db.Run],
	}
	spreadDeliveries = &spread[*db.Delivery]{
		name: "webhookDeliveries", rule: rule.WebhookDeliveries, list: db.Deliveries, find: (*db.Store).FindDeliveries, count: (*db.Store).CountDeliveries,
		merge: db.Merged[db.Delivery], there: db.There[db.Delivery],
	}
	// A change is told where it is made: of who is who at the home, of what a company has in its cell.
	spreadEvents = &spread[*db.AuditEvent]{
		name: "auditEvents", rule: rule.AuditEvents, list: db.AuditEvents, find: (*db.Store).FindAuditEvents, count: (*db.Store).CountAuditEvents,
		merge: db.Merged[db.AuditEvent], atHome: true,
	}
)

// answering are the lists that other cells ask for.
var answering = map[string]interface {
	answer(context.Context, Query, asking) (any, error)
}{spreadRuns.name: spreadRuns, spreadDeliveries.name: spreadDeliveries, spreadEvents.name: spreadEvents, boxName: spreadBox{}}

// boxName is how the search box is asked for.
const boxName = "search"

// asking is how another cell is asked for rows, or for how many there are.
type asking struct {
	List string
	// Top is the company whose rows are asked for, with those of all below it.
	Top int64
	Ask json.RawMessage
	// Count asks for how many there are alone, Total for that beside the rows.
	Count, Total bool
}

// saidOf is what a cell tells of a list.
type saidOf[T any] struct {
	Rows  []T
	Count int
	// Total is nil where it was not asked for, or is not known.
	Total *int
}

// AnswerRows answers another cell, which asks in the name of the caller of ctx, from what this one has. Each list asks for its own rule.
func (r *Resolver) AnswerRows(ctx context.Context, question []byte) ([]byte, error) {
	var in asking
	if err := json.Unmarshal(question, &in); err != nil || answering[in.List] == nil {
		return nil, problem.Bad("this cell knows no such list")
	}
	out, err := answering[in.List].answer(ctx, Query{r}, in)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false) // what runs were given stays as it is
	err = e.Encode(out)
	return text.Bytes(), err
}

func (s *spread[T]) answer(ctx context.Context, q Query, in asking) (any, error) {
	c, err := q.may(ctx, s.rule)
	if err != nil {
		return nil, err
	}
	ask, err := s.list.ReadAsk(in.Ask)
	if err != nil {
		return nil, problem.Bad("this cell knows no such list").Because(err)
	}
	top, err := q.customer(ctx, c, &globalid.ID{Int: in.Top}, "top")
	if err != nil {
		return nil, err
	}
	var out saidOf[T]
	scope := top.Lineage.Subtree()
	if in.Count {
		out.Count, err = s.count(q.Store, ctx, scope, ask)
		return out, err
	}
	if out.Rows, err = s.find(q.Store, ctx, scope, ask); err != nil {
		return nil, err
	}
	if in.Total {
		if n, err := s.count(q.Store, ctx, scope, ask); err == nil { // otherwise it is asked for alone, and that fails
			out.Total = &n
		}
	}
	return out, nil
}

// spreadPage is a page of a list: the rows of a scope, wherever they are, and how many there are.
type spreadPage[T listed] struct {
	*spread[T]
	r     *Resolver
	scope access.Scope
	// alone: no other place has any of it.
	alone bool
	// told is what other cells have said of how many they have, beside the rows.
	told map[problem.Place]int
}

func (s *spread[T]) in(r *Resolver, scope access.Scope) *spreadPage[T] {
	return &spreadPage[T]{spread: s, r: r, scope: scope, told: map[problem.Place]int{}}
}

// others are the cells to be asked beside this one.
func (s *spreadPage[T]) others(ctx context.Context, a db.Ask) ([]problem.Place, error) {
	if s.alone {
		return nil, nil
	}
	return s.spread.others(ctx, s.r, s.scope, a)
}

// rows reads the rows that an ask is for. Where it is known that their number is asked for, too, the other cells tell it on the way.
func (s *spreadPage[T]) rows(ctx context.Context, a db.Ask) ([]T, error) {
	others, err := s.others(ctx, a)
	if err != nil {
		return nil, err
	}
	if len(others) == 0 {
		return s.find(s.r.Store, ctx, s.scope, a)
	}
	parts, said := make([][]T, len(others)+1), make([]saidOf[T], len(others))
	here := func(ctx context.Context) (err error) {
		parts[len(others)], err = s.find(s.r.Store, ctx, s.scope, a)
		return err
	}
	err = beside(ctx, others, here, func(ctx context.Context, i int) error {
		err := s.r.askFor(ctx, others[i], asking{List: s.name, Total: paging.WantsTotal(ctx)}, s.scope, a, &said[i])
		if parts[i] = said[i].Rows; s.there != nil {
			s.there(parts[i], others[i])
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for i, place := range others {
		if total := said[i].Total; total != nil {
			s.told[place] = *total
		}
	}
	return s.merge(s.list, a, parts...), nil
}

// counted counts the rows that an ask is for.
func (s *spreadPage[T]) counted(ctx context.Context, a db.Ask) (int, error) {
	others, err := s.others(ctx, a)
	if err != nil {
		return 0, err
	}
	n := 0
	others = slices.DeleteFunc(others, func(place problem.Place) bool {
		total, told := s.told[place]
		n += total
		return told
	})
	counts := make([]int, len(others)+1)
	here := func(ctx context.Context) (err error) {
		counts[len(others)], err = s.count(s.r.Store, ctx, s.scope, a)
		return err
	}
	err = beside(ctx, others, here, func(ctx context.Context, i int) error {
		var out saidOf[T]
		err := s.r.askFor(ctx, others[i], asking{List: s.name, Count: true}, s.scope, a, &out)
		counts[i] = out.Count
		return err
	})
	for _, count := range counts {
		n += count
	}
	return n, err
}

// others are the cells to be asked beside this one. Of a request that has come from another cell for what is here, there are none.
func (s *spread[T]) others(ctx context.Context, r *Resolver, scope access.Scope, a db.Ask) ([]problem.Place, error) {
	if !r.Cells.Passes(ctx) || hop.OfRows(ctx) {
		return nil, nil
	}
	return r.Store.OtherCells(ctx, scope, a, s.atHome)
}

// beside asks other cells while this one is asked; the first of them that fails ends it.
func beside(ctx context.Context, others []problem.Place, here func(context.Context) error, there func(context.Context, int) error) error {
	if len(others) == 0 {
		return here(ctx)
	}
	share.LetGo(ctx)
	all, within := errgroup.WithContext(ctx)
	for i := range others {
		all.Go(func() error { return share.Guard(func() error { return there(within, i) }) })
	}
	all.Go(func() error { return share.Guard(func() error { return here(within) }) })
	return all.Wait()
}

// askFor asks another cell for what it has of a list. Where it does not know the company yet it is asked again.
func (r *Resolver) askFor(ctx context.Context, to problem.Place, in asking, scope access.Scope, a, out any) (err error) {
	if in.Ask, err = json.Marshal(a); err != nil {
		return err
	}
	lineage := scope.From()
	in.Top = lineage[len(lineage)-1]
	question, err := json.Marshal(in)
	if err != nil {
		return err
	}
	hop.Patiently(ctx, func() (known bool) {
		var raw []byte
		if raw, err = r.Cells.Rows(ctx, to, access.BranchOf(ctx), question); err == nil {
			if err = json.Unmarshal(raw, out); err != nil {
				err = hop.Away(to, err)
			}
		}
		return err == nil || problem.From(err).Code != problem.NotFound
	})
	switch {
	case err == nil || problem.From(err).Code != problem.NotFound:
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return hop.Away(to, err)
}
