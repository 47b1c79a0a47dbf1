package resolvers

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/attributes"
	"canopy/internal/globalid"
	"canopy/internal/paging"
	"canopy/internal/problem"
)

// Order is one field of an order. The fields of a list are those that it declares.
type Order struct{ Field, Direction string }

// descending is the direction of an order that has the largest first.
const descending = "DESC"

// The bounds of what is asked of a list: ids that a filter names, filters in its alternatives all told, and how deep
// they lie; fields of an order.
const (
	maxFilterIDs    = 200
	maxAlternatives = 20
	maxDepth        = 5
	maxOrders       = 3
)

// listed is a row that a declared list has found.
type listed interface{ FoundAt() []string }

// asked is what a caller asks of a list: a filter, an order, and the arguments of the page.
type asked struct {
	list   *db.List
	filter any
	order  []*Order
	args   paging.Args
	// also bounds the list further, as the place where it is asked for does.
	also []db.Term
	// top is the company that the companies of the list are below; nil for other lists.
	top access.Lineage
	// reading, where a list can become another whose places say nothing of this one, tells the one from the other. It stands in cursors.
	reading string
}

// page are the arguments of a connection.
func page(first *int, after *string, last *int, before *string) paging.Args {
	return paging.Args{First: first, After: after, Last: last, Before: before}
}

// connected answers a connection of a declared list: it reads the page that is asked for, and counts only when asked.
func connected[T listed](ctx context.Context, r *Resolver, c *caller, in asked,
	read func(context.Context, db.Ask) ([]T, error), count func(context.Context, db.Ask) (int, error),
) (*Connection[T], error) {
	where, order, err := r.checked(ctx, c, in, "filter.")
	if err != nil {
		return nil, err
	}
	page, err := in.args.Page(order)
	if err != nil {
		return nil, err
	}
	at := func(row T) paging.Cursor { return in.list.At(order.Name, row.FoundAt()) }
	if in.reading != "" {
		place := at
		at, page = func(row T) paging.Cursor { return place(row).With(in.reading) }, page.Without()
	}
	ask := db.NewAsk(where, order.Name, page)
	rows, err := read(ctx, ask)
	if err != nil {
		return nil, err
	}
	return newConnection(page, rows, at,
		func(ctx context.Context) (int, error) { return count(ctx, ask) }), nil
}

// Listing is what is asked of a list of any length: in which order, from after which cursor on, and at most how many rows,
// 0 for all. Backward, it is read from its end on, or from before the cursor.
type Listing struct {
	OrderBy  []*Order
	Bound    string
	Backward bool
	Limit    int
}

// listAll gives each row that is asked for with its place.
func listAll[T listed](ctx context.Context, r *Resolver, c *caller, in asked, l Listing, read func(context.Context, db.Ask) ([]T, error), each func(T, paging.Cursor) error) error {
	in.order = l.OrderBy
	where, order, err := r.checked(ctx, c, in, "")
	if err != nil {
		return err
	}
	bound, err := order.Parse(l.Bound, boundName(l.Backward))
	if err != nil {
		return err
	}
	if in.reading != "" {
		tell := each
		each, bound = func(row T, at paging.Cursor) error { return tell(row, at.With(in.reading)) }, bound.Without()
	}
	return db.Each(ctx, r.Store, in.list.Walk(where, order.Name, bound, l.Backward), l.Limit, read, each)
}

// boundName is the argument that has the cursor.
func boundName(backward bool) string {
	if backward {
		return "before"
	}
	return "after"
}

// checked gives which rows are asked for, and in which order. at begins the names of the filter's members where they are
// refused.
func (r *Resolver) checked(ctx context.Context, c *caller, in asked, at string) (where db.Where, order paging.Order, err error) {
	if where, err = r.where(ctx, c, in.filter, at); err != nil {
		return where, order, err
	}
	where.Terms = append(where.Terms, in.also...)
	by, err := sortsOf(in.list, in.order)
	if err != nil {
		return where, order, err
	}
	return where, in.ofReading(in.placed(in.list.Order(by))), nil
}

// otherReading is told of a cursor of a list that has become another.
const otherReading = "is not a cursor of this list, or is one of the time before its document was processed anew: begin the list anew"

// ofReading has a cursor be one of this reading of the list.
func (in asked) ofReading(o paging.Order) paging.Order {
	if in.reading == "" {
		return o
	}
	fits, last := o.Fits, o.Keys
	o.Keys, o.Misfit = last+1, otherReading
	o.Fits = func(key int, text string) bool {
		if key == last {
			return text == in.reading
		}
		return fits(key, text)
	}
	return o
}

// otherPlace is told of a cursor that names no place below the top of a list of companies.
const otherPlace = "is not a cursor of this list in this order, or is one of the time before its company was moved: begin the list anew"

// placed has a cursor in the order of the tree name a place below the top of what is listed: one of the time before that
// was moved names none.
func (in asked) placed(o paging.Order) paging.Order {
	if in.top == nil || o.Name != db.InPreorder {
		return o
	}
	o.Misfit = otherPlace
	fits, top := o.Fits, ""
	for _, id := range in.top {
		top += "," + strconv.FormatInt(id, 10)
	}
	o.Fits = func(key int, text string) bool {
		return fits(key, text) && strings.HasPrefix(","+strings.Trim(text, "{}")+",", top+",")
	}
	return o
}

// within is a read or a count of what a list holds within a scope, or of a store.
func within[S, V any](scope S, read func(context.Context, S, db.Ask) (V, error)) func(context.Context, db.Ask) (V, error) {
	return func(ctx context.Context, a db.Ask) (V, error) { return read(ctx, scope, a) }
}

// sortsOf checks an order.
func sortsOf(list *db.List, order []*Order) ([]db.Sort, error) {
	var v check
	by := make([]db.Sort, 0, len(order))
	for _, o := range order {
		switch {
		case !slices.Contains(list.Fields(), o.Field):
			v.fault("orderBy", "must be one of %s", strings.Join(list.Fields(), ", "))
		case slices.ContainsFunc(by, func(s db.Sort) bool { return s.Field == o.Field }):
			v.fault("orderBy", "names %s twice", o.Field)
		}
		by = append(by, db.Sort{Field: o.Field, Down: o.Direction == descending})
	}
	if len(by) > maxOrders {
		v.fault("orderBy", "must not be more than %d fields", maxOrders)
	}
	return by, v.err()
}

// filterWith is a filter that has rules of its own, beside those that follow from the types of its members. It may
// complete what is given.
type filterWith interface {
	complete(v *check, at string)
}

// where reads a filter, a pointer to a struct whose members are named as the list's: nil leaves it open. Every company
// and every user that it names so as to be looked up is within reach. at begins the names of its members where they are refused.
func (r *Resolver) where(ctx context.Context, c *caller, filter any, at string) (db.Where, error) {
	in := reflect.ValueOf(filter)
	if filter == nil || in.IsNil() {
		return db.Where{}, nil
	}
	var v check
	f := filterReader{check: &v}
	where := f.read(in.Elem(), at, 1)
	// Before anything is looked up: a filter names a user and a company at each of its alternatives.
	if f.alternatives > maxAlternatives {
		v.fault(at+"or", "must not have more than %d alternatives, all told", maxAlternatives)
	}
	if err := v.err(); err != nil {
		return db.Where{}, err
	}
	for _, look := range f.looked {
		if err := look(ctx, r, c); err != nil {
			return db.Where{}, err
		}
	}
	return where, nil
}

// filterReader reads a filter into terms.
type filterReader struct {
	*check
	alternatives int
	looked       []func(context.Context, *Resolver, *caller) error
}

// read reads a struct whose fields are the members: pointers, lists of ids, and alternatives. Tags name the type that ids
// are of, the most that a number can be, and the texts that names are searched for.
func (f *filterReader) read(in reflect.Value, at string, depth int) (where db.Where) {
	if own, ok := in.Addr().Interface().(filterWith); ok {
		own.complete(f.check, at)
	}
	for i := range in.NumField() {
		field, value := in.Type().Field(i), in.Field(i)
		name := memberName(field.Name)
		if value.IsNil() {
			continue
		}
		if name == "or" {
			if value.Len() > maxAlternatives || depth == maxDepth && value.Len() > 0 {
				f.fault(at+name, "must not have more than %d alternatives, nor lie deeper than %d", maxAlternatives, maxDepth)
				continue
			}
			if value.Len() == 0 { // nothing fits one of none
				where.Terms = append(where.Terms, db.Term{Member: "ids", Value: f.ids(nil, at+name, "")})
			}
			for j := range value.Len() {
				where.Or = append(where.Or, f.read(value.Index(j).Elem(), at+"or.", depth+1))
			}
			continue
		}
		where.Terms = append(where.Terms, db.Term{Member: name, Value: f.value(value.Interface(), at+name, field.Tag)})
	}
	if len(where.Or) == 0 {
		f.alternatives++
	}
	return where
}

// memberName is the name of a filter's member in both doors: RegionID is regionId, IDs is ids.
func memberName(field string) string {
	if field == "IDs" {
		return "ids"
	}
	name := strings.ToLower(field[:1]) + field[1:]
	if bare, ok := strings.CutSuffix(name, "ID"); ok {
		return bare + "Id"
	}
	return name
}

// value checks the value of a member, and gives it as text.
func (f *filterReader) value(value any, at string, tag reflect.StructTag) string {
	switch x := value.(type) {
	case *string:
		switch {
		case tag.Get("search") != "":
			f.sought(at, *x)
		case *x == "" && !slices.ContainsFunc(f.faults, func(p problem.Fault) bool { return p.Location == at }): // nothing that is looked for so is empty
			f.fault(at, "must not be empty")
		default:
			f.text(at, *x, maxName)
		}
		return *x
	case *int:
		if most, _ := strconv.Atoi(tag.Get("most")); *x < 0 || *x > most {
			f.fault(at, "must be between 0 and %d", most)
		}
		return strconv.Itoa(*x)
	case *float64:
		f.fraction(at, x)
		return strconv.FormatFloat(*x, 'g', -1, 64)
	case json.RawMessage:
		predicate, faults := attributes.Filter(at, x)
		f.faults = append(f.faults, faults...)
		return predicate
	case *bool:
		return strconv.FormatBool(*x)
	case *time.Time:
		f.moment(at, *x)
		return x.UTC().Format("2006-01-02T15:04:05.999999Z")
	case *globalid.ID:
		return strconv.FormatInt(f.id(*x, at, tag), 10)
	case []globalid.ID:
		return f.ids(x, at, tag)
	}
	panic("resolvers: a filter has a member of another type")
}

// id checks an id of the type that the tag names, and notes what is to be looked up.
func (f *filterReader) id(id globalid.ID, at string, tag reflect.StructTag) int64 {
	if typ := tag.Get("of"); typ != "" && id.Type != "" && id.Type != typ {
		f.fault(at, "is the id of a %s, not of a %s", id.Type, typ)
	}
	if id.Int < 1 && tag.Get("reach") == "" {
		f.fault(at, "must be an id")
	}
	switch tag.Get("reach") {
	case "actor":
		f.looked = append(f.looked, func(ctx context.Context, r *Resolver, c *caller) error {
			n, err := id.Of("User", at)
			if err != nil {
				return err
			}
			_, err = r.Store.Actor(ctx, c.Scope(), n)
			return c.unreached(err, "user", n)
		})
	case "company":
		f.looked = append(f.looked, func(ctx context.Context, r *Resolver, c *caller) error {
			_, err := r.customer(ctx, c, &id, at)
			return err
		})
	}
	return id.Int
}

func (f *filterReader) ids(ids []globalid.ID, at string, tag reflect.StructTag) string {
	if len(ids) > maxFilterIDs {
		f.fault(at, "must not be more than %d", maxFilterIDs)
	}
	if slices.ContainsFunc(ids, func(id globalid.ID) bool { return id.Int < 1 }) {
		f.fault(at, "must be ids")
	}
	var list []string
	for _, id := range ids {
		if typ := tag.Get("of"); id.Type != "" && id.Type != typ {
			f.fault(at, "is the id of a %s, not of a %s", id.Type, typ)
		}
		if n := strconv.FormatInt(id.Int, 10); !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return "{" + strings.Join(list, ",") + "}"
}
