package resolvers

import (
	"cmp"
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/globalid"
	"canopy/internal/paging"
	"canopy/internal/problem"
	"canopy/internal/rule"
	"canopy/internal/webhook"
	"canopy/internal/words"
)

// SearchResult is what the search box finds.
type SearchResult interface{ GlobalID() globalid.ID }

// maxResults is how many things a search gives at most.
const maxResults = 50

// resultKind is a kind of what is found: who may see such, and how rows of it are read within the caller's reach, as its list reads them.
type resultKind struct {
	name  string
	rule  *rule.Rule
	named bool // whether it is found by a name, and not by ids alone
	read  func(ctx context.Context, s *db.Store, c *caller, a db.Ask) ([]SearchResult, error)
	// rowOf reads a row that another cell has given; nil for who is who, which is known in each.
	rowOf func(row json.RawMessage, at problem.Place) (SearchResult, error)
}

// resultKinds are in the order in which hits that fit alike are listed.
var resultKinds = []resultKind{
	{name: "Customer", rule: rule.Customers, named: true, read: func(ctx context.Context, s *db.Store, c *caller, a db.Ask) ([]SearchResult, error) {
		return results(s.FindCustomers(ctx, c.Scope(), a))
	}},
	{name: "User", rule: rule.Users, named: true, read: func(ctx context.Context, s *db.Store, c *caller, a db.Ask) ([]SearchResult, error) {
		return results(s.FindUsers(ctx, c.Scope(), a))
	}},
	{name: "Context", rule: rule.Contexts, named: true, rowOf: rowOf(db.There[db.Context]), read: func(ctx context.Context, s *db.Store, c *caller, a db.Ask) ([]SearchResult, error) {
		return results(s.FindContexts(ctx, c.desk(), a))
	}},
	{name: "Document", rule: rule.Documents, named: true, rowOf: rowOf(db.There[db.Document]), read: func(ctx context.Context, s *db.Store, c *caller, a db.Ask) ([]SearchResult, error) {
		return results(s.FindDocuments(ctx, c.desk(), a))
	}},
	{name: "Agent", rule: rule.Agents, named: true, rowOf: rowOf(db.There[db.Agent]), read: func(ctx context.Context, s *db.Store, c *caller, a db.Ask) ([]SearchResult, error) {
		return results(s.FindAgents(ctx, c.Scope(), a))
	}},
	{name: "Run", rule: rule.Runs, rowOf: rowOf(db.There[db.Run]), read: func(ctx context.Context, s *db.Store, c *caller, a db.Ask) ([]SearchResult, error) {
		return results(s.FindRuns(ctx, c.Scope(), a))
	}},
	{name: "WebhookDestination", rule: rule.WebhookDestinations, named: true, rowOf: rowOf(db.There[db.Destination]), read: func(ctx context.Context, s *db.Store, c *caller, a db.Ask) ([]SearchResult, error) {
		return results(s.FindDestinations(ctx, c.Scope(), a))
	}},
	{name: "WebhookDelivery", rule: rule.WebhookDeliveries, rowOf: rowOf(db.There[db.Delivery]), read: func(ctx context.Context, s *db.Store, c *caller, a db.Ask) ([]SearchResult, error) {
		return results(s.FindDeliveries(ctx, c.Scope(), a))
	}},
}

func results[T SearchResult](rows []T, err error) ([]SearchResult, error) {
	list := make([]SearchResult, len(rows))
	for i, row := range rows {
		list[i] = row
	}
	return list, err
}

// hit is something that was found, and how well it fits.
type hit struct {
	SearchResult
	kind, fits int
}

// How well something fits, the best first.
const (
	exactID = iota
	exactName
	nameBegins
	nameHasWords
	nearName
)

// box is a search on its way.
type box struct {
	store *db.Store
	// callers are those of the kinds that are looked for, by their places: of what the caller may list, and asks for.
	callers map[int]*caller
	text    string
	sought  words.Sought
	first   int
	hits    []hit
}

// Search finds what goes by a text, within reach and among what the caller may list: by names, addresses, ids, job keys and event
// ids. What fits best comes first.
func (q Query) Search(ctx context.Context, text string, types []string, first *int) ([]SearchResult, error) {
	c, err := q.may(ctx, rule.Search)
	if err != nil {
		return nil, err
	}
	b, err := q.found(ctx, c, text, types, or(first, 10))
	if err != nil {
		return nil, err
	}
	best := b.best()
	list := make([]SearchResult, len(best))
	for i, h := range best {
		list[i] = h.SearchResult
	}
	return list, nil
}

// found looks for what goes by a text.
func (q Query) found(ctx context.Context, c *caller, text string, types []string, first int) (*box, error) {
	b := &box{store: q.Store, text: strings.TrimSpace(text), sought: words.Parse(text), first: first, callers: searched(c.Principal, types)}
	var v check
	v.sought("text", text)
	if b.first < 1 || b.first > maxResults {
		v.fault("first", "must be between 1 and %d", maxResults)
	}
	if err := v.err(); err != nil {
		return nil, err
	}
	return b, b.elsewhere(ctx, q.Resolver, c.Principal, func(ctx context.Context) error {
		for _, step := range []func(context.Context) error{b.byID, b.byKey, b.begun, b.worded, b.near} {
			if err := step(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// sought checks a text that names are searched for.
func (v *check) sought(field, text string) {
	v.line(field, text, maxName)
	if len(words.Parse(text)) == 0 {
		v.fault(field, "must have a letter or a digit")
	}
}

// searched gives the callers of the kinds that are asked for and that a principal may list.
func searched(p *access.Principal, types []string) map[int]*caller {
	callers := map[int]*caller{}
	for i, k := range resultKinds {
		if types != nil && !slices.Contains(types, upperSnake(k.name)) {
			continue
		}
		if g, err := grantFor(p, k.rule); err == nil {
			callers[i] = &caller{p, g}
		}
	}
	return callers
}

var capitals = regexp.MustCompile(`([a-z])([A-Z])`)

// upperSnake writes the name of a type as enums do.
func upperSnake(name string) string {
	return strings.ToUpper(capitals.ReplaceAllString(name, "${1}_${2}"))
}

// each asks for each of the kinds that are looked for and of which wanted holds.
func (b *box) each(ctx context.Context, wanted func(kind int) bool, a db.Ask, add func(hit)) error {
	for i, k := range resultKinds {
		if b.callers[i] == nil || !wanted(i) {
			continue
		}
		rows, err := k.read(ctx, b.store, b.callers[i], a)
		if err != nil {
			return err
		}
		for _, row := range rows[:min(len(rows), a.Page.Size)] {
			add(hit{SearchResult: row, kind: i, fits: b.fits(row)})
		}
	}
	return nil
}

// ask is for as many as a search can give, so that the best of them are given.
func (b *box) ask(member, value, order string) db.Ask {
	return db.NewAsk(db.Where{Terms: []db.Term{{Member: member, Value: value}}}, order, paging.NewPage(maxResults, paging.Cursor{}))
}

func (b *box) add(h hit) {
	if !slices.ContainsFunc(b.hits, func(o hit) bool { return o.kind == h.kind && o.GlobalID() == h.GlobalID() }) {
		b.hits = append(b.hits, h)
	}
}

func (b *box) exact(h hit) {
	h.fits = exactID
	b.add(h)
}

// count is how many hits there are, of a kind or, for -1, of all, that fit at least so well.
func (b *box) count(kind, fits int) (n int) {
	for _, h := range b.hits {
		if h.fits <= fits && (kind < 0 || h.kind == kind) {
			n++
		}
	}
	return n
}

// byID finds what has a text as its id, global or as REST shows it.
func (b *box) byID(ctx context.Context) error {
	id, err := globalid.ParseID(b.text)
	if err != nil || id.Int < 1 {
		return nil
	}
	term := idTerm("ids", id.Int)
	return b.each(ctx, func(kind int) bool { return id.Type == "" || id.Type == resultKinds[kind].name }, b.ask(term.Member, term.Value, ""), b.exact)
}

// byKey finds the run of a job key, or those whose keys begin with the text, and the deliveries of an event.
func (b *box) byKey(ctx context.Context) error {
	run := slices.IndexFunc(resultKinds, func(k resultKind) bool { return k.name == "Run" })
	if c := b.callers[run]; c != nil {
		if err := b.runsBegun(ctx, run, c); err != nil {
			return err
		}
	}
	if !strings.HasPrefix(b.text, webhook.IDPrefix) {
		return nil
	}
	return b.each(ctx, func(kind int) bool { return resultKinds[kind].name == "WebhookDelivery" }, b.ask("eventId", b.text, ""), b.exact)
}

// beginningOfKey is what a job key begins with: so many digits that the runs which have them are few, with the dashes of a key or without.
var beginningOfKey = regexp.MustCompile(`^[0-9a-f]{6,8}(-?[0-9a-f]{0,4}){3}-?[0-9a-f]{0,12}$`)

// runsBegun finds the runs whose job keys begin with the text.
func (b *box) runsBegun(ctx context.Context, kind int, c *caller) error {
	key := strings.ToLower(b.text)
	digits := strings.ReplaceAll(key, "-", "")
	if !beginningOfKey.MatchString(key) || len(digits) > 32 {
		return nil // it is something else
	}
	rows, err := b.store.RunsBegun(ctx, c.Scope(), digits, maxResults)
	for _, row := range rows {
		h := hit{SearchResult: row, kind: kind, fits: nameBegins}
		if row.JobKey == key {
			h.fits = exactID
		}
		b.add(h)
	}
	return err
}

// begun finds the companies and users whose names are the text, or begin with it: the names in order begin with those.
func (b *box) begun(ctx context.Context) error {
	trees := func(kind int) bool { return resultKinds[kind].name == "Customer" || resultKinds[kind].name == "User" }
	return b.each(ctx, trees, b.ask("begins", b.text, "NAME"), b.add)
}

// worded finds the names that have all words, of the kinds that have not given enough yet.
func (b *box) worded(ctx context.Context) error {
	return b.each(ctx, func(kind int) bool { return resultKinds[kind].named && b.count(kind, nameBegins) < b.first },
		b.ask("search", b.text, "ID").Plainly(), b.add)
}

// near finds the names within one edit, of the kinds that have nothing else, where nothing fits well. A key is not near another.
func (b *box) near(ctx context.Context) error {
	if _, err := parseJobKey(strings.ToLower(b.text)); err == nil || strings.HasPrefix(b.text, webhook.IDPrefix) {
		return nil
	}
	if b.count(-1, nameBegins) > 0 || len(b.hits) >= b.first {
		return nil
	}
	return b.each(ctx, func(kind int) bool { return resultKinds[kind].named && b.count(kind, nearName) == 0 }, b.ask("search", b.text, "ID"), b.add)
}

// best are the hits that fit best.
func (b *box) best() []hit {
	slices.SortStableFunc(b.hits, func(x, y hit) int {
		return cmp.Or(cmp.Compare(x.fits, y.fits), cmp.Compare(x.kind, y.kind), cmp.Compare(Calls(x.SearchResult)[0], Calls(y.SearchResult)[0]),
			cmp.Compare(x.GlobalID().Int, y.GlobalID().Int))
	})
	return b.hits[:min(len(b.hits), b.first)]
}

// Calls are the names that something goes by: the first is the one to show.
func Calls(row SearchResult) []string {
	switch x := row.(type) {
	case *db.Customer:
		return []string{x.Name}
	case *db.User:
		return []string{x.Name(), x.Email}
	case *db.Context:
		return []string{x.Name}
	case *db.Document:
		return []string{x.DisplayName}
	case *db.Agent:
		return []string{x.Name}
	case *db.Run:
		return []string{x.JobKey}
	case *db.Destination:
		return []string{x.Name, x.URL}
	case *db.Delivery:
		return []string{x.EventID}
	}
	return []string{""}
}

// fits tells how well the names of something fit.
func (b *box) fits(row SearchResult) int {
	names := Calls(row)
	best, text := nearName, strings.Join(b.sought, " ")
	for _, name := range names {
		switch said := strings.Join(words.OfName(name), " "); {
		case said == text:
			best = min(best, exactName)
		case strings.HasPrefix(said, text):
			best = min(best, nameBegins)
		}
	}
	if best == nearName && b.sought.In(words.OfName(strings.Join(names, " "))) {
		best = nameHasWords
	}
	return best
}
