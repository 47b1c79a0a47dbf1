package db

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"canopy/internal/paging"
)

// A long list is declared once: what its rows can be filtered by, what they can be ordered by, and the ways in which they
// are found. A statement is put together from these parts for what a caller asks: so it holds the conditions that were
// asked for and no others, and it is planned well for all arguments alike. There are as many statements as there are
// ways to ask, of which each connection keeps the latest prepared.

// List is the declaration of a list of rows of one type.
type List struct {
	// id of the rows that are found; it comes last in each order.
	id string
	// members are the conditions of a filter, with ? for the value, and ! for what a search has beside it.
	members map[string]string
	// orders are what rows can be ordered by.
	orders map[string]key
	// otherwise is the order where none is asked for.
	otherwise string
	// own is that order, made once.
	own  paging.Order
	once sync.Once
	// columns and tables read the rows, once found: tables join them to f.id.
	columns, tables string
	// several, where a list has it, joins several rows m to f.id, of which tables are joined to the one that comes first in the order of first: to put those of
	// all rows of a page in order at once takes half of what it takes one row after the other.
	several, first string
	// carried, where all ways have it, is handed on with what is found; handed then takes the place of tables, and reads nothing twice.
	carried, handed string
}

// key is what rows are ordered by.
type key struct {
	// by is never null.
	by   string
	kind kind
	// once: no two rows of a list have the same.
	once bool
	// values are all that it can be where a filter does not name one by the member, if they are few: what is alike in it is found by itself.
	values []string
	member string
	// then is the field that decides where it is alike and the order names no other; the id, where there is none.
	then string
	// has is the member that tells those who have such a moment from those who have never: each are found by themselves.
	has string
}

// kind is the type of a key, and how it stands in a cursor.
type kind struct {
	// sql is the type. read makes the value of an argument with the text of a cursor, write the text of a value: ? is
	// the argument or the value.
	sql, read, write string
	fits             func(string) bool
}

var (
	integers = kind{sql: "bigint", read: "?::bigint", write: "?::text", fits: isInteger}
	texts    = kind{sql: "text", read: "?::text", write: "?", fits: isText}
	// Moments are microseconds since 1970.
	moments = kind{
		sql: "timestamptz", read: "(timestamptz 'epoch' + ?::bigint * interval '1 microsecond')",
		write: "(extract(epoch FROM ?) * 1000000)::bigint::text", fits: isMoment,
	}
	// lineages are ids with commas, in braces.
	lineages = kind{sql: "bigint[]", read: "?::bigint[]", write: "?::text", fits: isLineage}
)

// never is the moment of what has none, and noMoment how it stands in a cursor.
const never, noMoment = "timestamptz 'epoch'", "0"

func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

func isInteger(s string) bool { _, err := strconv.ParseInt(s, 10, 64); return err == nil }

// farthest is the end of the year 9999 in microseconds.
const farthest = 253_402_300_800_000_000

func isMoment(s string) bool {
	n, err := strconv.ParseInt(s, 10, 64)
	return err == nil && n > -farthest && n < farthest
}

func isLineage(s string) bool {
	inner, ok := strings.CutPrefix(s, "{")
	inner, closed := strings.CutSuffix(inner, "}")
	return ok && closed && !slices.ContainsFunc(strings.Split(inner, ","), func(id string) bool { return !isInteger(id) })
}

// Fields are what the list can be ordered by.
func (l *List) Fields() []string {
	fields := make([]string, 0, len(l.orders))
	for f := range l.orders {
		fields = append(fields, f)
	}
	slices.Sort(fields)
	return fields
}

// Order is how the cursors of an order look; of no fields, that of the list's own order.
func (l *List) Order(by []Sort) paging.Order {
	if len(by) > 0 {
		return l.orderBy(by)
	}
	l.once.Do(func() { l.own = l.orderBy(sorts(l.otherwise)) })
	return l.own
}

func (l *List) orderBy(by []Sort) paging.Order {
	name := OrderName(by)
	keys := l.keys(name)
	return paging.Order{Name: name, Keys: len(keys), Fits: func(i int, text string) bool { return keys[i].kind.fits(text) }}
}

// At is the cursor of a place in an order; "" is the list's own.
func (l *List) At(order string, place []string) paging.Cursor {
	return paging.Cursor{Order: cmp.Or(order, l.otherwise), Keys: place}
}

// sortedKey is a key with its direction.
type sortedKey struct {
	key
	down bool
}

// keys are those of an order, by its name, the id behind them: with it no two rows have the same place. What follows an
// id decides nothing, nor does what is ordered by already: events are told apart by their time, and `ID` is that, too.
func (l *List) keys(order string) []sortedKey {
	var list []sortedKey
	by := sorts(order)
	if first := by[0]; len(by) == 1 && l.orders[first.Field].then != "" {
		by = append(by, Sort{l.orders[first.Field].then, first.Down})
	}
	for _, s := range by {
		k := sortedKey{l.orders[s.Field], s.Down}
		if slices.ContainsFunc(list, func(e sortedKey) bool { return e.by == k.by }) {
			continue
		}
		if list = append(list, k); k.once || k.by == l.id {
			return list
		}
	}
	return append(list, sortedKey{key{by: l.id, kind: integers}, list[len(list)-1].down})
}

// way is one in which the rows of a list are found.
type way struct {
	// from has the tables that members and orders name.
	from string
	// where are the conditions that an index finds the rows by.
	where []string
	// held are conditions that are only held against the rows that are found.
	held []string
	// lead is what the index that gives the order has before it, and is what that has to be: one column, or several that stand in a row.
	lead, is string
	// exact: the lead is named column by column.
	exact bool
	// keys are what the keys of the order are called in an ordered way, where an index has them by other names.
	keys map[string]string
	// spans bound the key that an ordered way goes by first: operators with values.
	spans [][2]string
	// ordered: an index gives the rows in the order that is asked for, so that a page is read and no more. Otherwise
	// all rows are read, and ordered.
	ordered bool
	// sorted: from begins with the rows in that order, behind the cursor, as n with their ids and keys.
	sorted bool
	// size is what is counted to see whether the rows are few, as it stands behind FROM; where nothing is said, what
	// indexes find.
	size string
	// most is how many rows are few; 0 stands for the constant.
	most int
	// ids selects the rows as id, where they are looked for at once as they are counted: from then begins behind n(id).
	ids string
	// met selects ids, of which as many as are few, and one more, are known as met to all ways of an alternative: the way is walked for these.
	met string
	// with are queries by their names, which tell something to all ways of an alternative.
	with []string
	// listed lists them, on a condition, where they are not counted, and tells whether there are many; before is the gate before it.
	listed func(open, before string) string
	// each is, in an ordered way, what the way is walked for again and again, with a page of each: a FROM clause.
	each string
	// first names the rows of each that the way is walked for: of very many, only those whose own first rows come first are.
	first string
}

// ordersBy tells whether rows are asked for in the order of a key.
func (s *statement) ordersBy(key string) bool { return !s.counting && s.keys[0].by == key }

// led makes a way of the rows whose column is a value, which indexes have in the orders of keys.
func (s *statement) led(w way, column, is string, keys ...string) way {
	if slices.ContainsFunc(keys, s.ordersBy) {
		w.lead, w.is, w.ordered = column, is, true
	} else {
		w.where = append(w.where, column+" = "+is)
	}
	return w
}

// handful is how many rows may be read and ordered for a page, where there is another way.
const handful = 2_000

// statement puts a statement of a list together.
type statement struct {
	list *List
	args []any
	// keys are those of the direction in which the page is read, of so many fields.
	keys     []sortedKey
	fields   int
	page     paging.Page
	counting bool
	// anyOf: a search gives whatever fits, and need not have the first of it.
	anyOf bool
	// unsorted: it does not matter which rows are found where there are more than are read.
	unsorted bool
	// rows is the argument with how many rows are read, after those with the keys of the cursor.
	rows  string
	after []string
	// alike is the key before these that all rows have alike, where they are a part of what is asked for; open is on what condition the part is read.
	alike, open string
	// carries: what is carried is handed on.
	carries bool
}

// newStatement begins a statement. args are those that its ways name.
func newStatement(l *List, a Ask, counting bool, args ...any) *statement {
	s := &statement{list: l, args: args, page: a.Page, counting: counting, anyOf: a.plainly}
	if counting {
		return s
	}
	order := a.order
	if order == "" {
		order = l.otherwise
	}
	s.keys = l.keys(order)
	s.fields = min(len(sorts(order)), len(s.keys)) // what is behind a field that no two rows have alike decides nothing
	own := s.inEachPart()
	if s.fields -= len(s.keys) - len(own); len(own) == 2 && own[1].by == l.id && own[1].down == own[0].down {
		s.fields = 1 // as indexes have it
	}
	if a.Page.Backward {
		for i := range s.keys {
			s.keys[i].down = !s.keys[i].down
		}
	}
	s.rows = s.arg(a.Page.Size+1, "bigint")
	for i, k := range a.Page.Bound().Keys {
		s.args = append(s.args, k)
		s.after = append(s.after, strings.ReplaceAll(s.keys[i].kind.read, "?", "$"+strconv.Itoa(len(s.args))))
	}
	return s
}

// inEachPart are the keys of the order without the first one where that has few values, as it is alike in each part.
func (s *statement) inEachPart() []sortedKey {
	if len(s.keys[0].values) > 0 {
		return s.keys[1:]
	}
	return s.keys
}

// arg adds an argument and gives its place.
func (s *statement) arg(v any, typ string) string {
	s.args = append(s.args, v)
	return "$" + strconv.Itoa(len(s.args)) + "::" + typ
}

var placeholder = regexp.MustCompile(`\$\d+`)

// finished gives a text with the arguments that it names, and no others: what one way would have needed, another may not.
func (s *statement) finished(text string) (string, []any) {
	var args []any
	places := map[string]string{}
	text = placeholder.ReplaceAllStringFunc(text, func(old string) string {
		if places[old] == "" {
			n, _ := strconv.Atoi(old[1:])
			args = append(args, s.args[n-1])
			places[old] = "$" + strconv.Itoa(len(args))
		}
		return places[old]
	})
	return text, args
}

// column is the name of a key in what is found.
func (s *statement) column(i int) string {
	if s.alike != "" {
		i++
	}
	return "k" + strconv.Itoa(i+1)
}

// orderBy is the order of rows whose keys go by names.
func (s *statement) orderBy(before string, name func(int) string) string {
	list := make([]string, 0, len(s.keys)+1)
	if before != "" {
		list = append(list, strings.ReplaceAll(before, ", ", direction(s.keys[0].down)+", ")+direction(s.keys[0].down))
	}
	for i, k := range s.keys {
		list = append(list, name(i)+direction(k.down))
	}
	return " ORDER BY " + strings.Join(list, ", ")
}

func direction(down bool) string {
	if down {
		return " DESC"
	}
	return ""
}

// within makes a walk in the order of a key one through a part of the order. What it is led by is named by itself: the comparison of
// a row would go on to the end of what has that lead.
func (w way) within(conditions ...string) way {
	w.where = append(slices.Clone(w.where), conditions...)
	if w.lead != "" {
		w.where = append(w.where, w.lead+" = "+w.is)
		w.lead, w.is = "", ""
	}
	return w
}

// beyond is the condition that a row lies behind the cursor. Where all keys go in one direction it is a comparison of
// rows, which an index begins at; lead, where there is one, stands before them there.
func (s *statement) beyond(lead, is string, name func(int) string) []string {
	if len(s.after) == 0 {
		return nil
	}
	names, down := make([]string, len(s.keys)), s.keys[0].down
	alike := true
	for i, k := range s.keys {
		names[i] = name(i)
		alike = alike && k.down == down
	}
	if alike {
		return []string{compare(lead, is, strings.Join(names, ", "), behind(down), strings.Join(s.after, ", "))}
	}
	last := len(names) - 1
	condition := names[last] + behind(s.keys[last].down) + s.after[last]
	for i := last - 1; i >= 0; i-- {
		condition = names[i] + behind(s.keys[i].down) + s.after[i] + " OR " + names[i] + " = " + s.after[i] + " AND (" + condition + ")"
	}
	return []string{compare(lead, is, names[0], strings.TrimRight(behind(down), " ")+"= ", s.after[0]), "(" + condition + ")"}
}

// behind is the operator of what comes later in an order.
func behind(down bool) string {
	if down {
		return " < "
	}
	return " > "
}

// compare compares keys with values, behind a lead with its value where there is one.
func compare(lead, is, names, op, values string) string {
	if lead != "" {
		names, values = lead+", "+names, is+", "+values
	}
	return "(" + names + ")" + op + "(" + values + ")"
}

// bounds are the conditions by which an index that gives the order begins and ends: one for each side, as each further one would
// have the planner expect fewer rows, and order them. What else bounds the time is held against the rows.
func (s *statement) bounds(w way) []string {
	list, down := s.beyond(w.lead, w.is, s.by(w)), s.keys[0].down
	begun, ended := len(list) > 0, false
	if len(list) > 1 && w.lead != "" { // a comparison of rows alone does not tell the planner that they all have the lead, and it takes any index of that
		list = append(list, "("+w.lead+")"+strings.TrimRight(behind(down), " ")+"= ("+w.is+")")
	}
	for _, span := range w.spans {
		switch ends := strings.HasPrefix(span[0], "<") != down; {
		case ends:
			ended = true
		case begun: // whichever is further
			further := "GREATEST("
			if down {
				further = "LEAST("
			}
			span = [2]string{strings.TrimRight(span[0], "=") + "=", further + span[1] + ", " + s.after[0] + ")"}
			list[0] = unindexed(list[0])
		default:
			begun = true
		}
		list = append(list, compare(w.lead, w.is, s.by(w)(0), " "+span[0]+" ", span[1]))
	}
	switch {
	case w.lead == "":
		return list
	case w.exact:
		return append(list, w.alike()...)
	}
	first, last := " >= ", " <= "
	if down {
		first, last = last, first
	}
	if !begun {
		list = append(list, "("+w.lead+")"+first+"("+w.is+")")
	}
	if !ended {
		list = append(list, "("+w.lead+")"+last+"("+w.is+")")
	}
	return list
}

// alike holds what an index has before the order to what each of it has to be. A comparison of rows alone would be read on to where the first of it ends, and the
// planner would take any index of that one for as good as that of them all.
func (w way) alike() []string {
	columns, is := strings.Split(w.lead, ", "), strings.Split(w.is, ", ")
	list, last := make([]string, 0, len(columns)+1), len(columns)-1
	for i, column := range columns[:last] {
		list = append(list, column+" = "+is[i])
	}
	return append(list, columns[last]+" >= "+is[last], columns[last]+" <= "+is[last])
}

// by names the keys of the order in a way.
func (s *statement) by(w way) func(int) string {
	return func(i int) string { return cmp.Or(w.keys[s.keys[i].by], s.keys[i].by) }
}

// found lists what is known of a row that was found: its id, and its keys.
func (s *statement) found(name func(int) string) string {
	list := s.list.id + " AS id"
	if s.carries {
		list += ", " + s.list.carried
	}
	if s.alike != "" {
		list += ", " + s.alike + " AS k1"
	}
	for i := range s.keys {
		list += ", " + name(i) + " AS " + s.column(i)
	}
	return list
}

// terms are the conditions of a filter's terms.
func (s *statement) terms(terms []Term) []string {
	var list []string
	for _, t := range terms {
		list = append(list, s.condition(t))
	}
	return list
}

// period are the conditions of the members that bound a time.
func (s *statement) period(terms []Term, members ...string) []string {
	var list []string
	for _, t := range terms {
		if slices.Contains(members, t.Member) {
			list = append(list, s.condition(t))
		}
	}
	return list
}

// spans are what the members that bound a time say of it: one for each side, also where alternatives bound it further.
func (s *statement) spans(terms []Term, since, until string) (list [][2]string) {
	for _, end := range []struct{ member, op, further string }{{since, ">=", "GREATEST"}, {until, "<", "LEAST"}} {
		var values []string
		for _, t := range terms {
			if t.Member == end.member {
				values = append(values, s.value(t, "timestamptz"))
			}
		}
		if len(values) > 0 {
			list = append(list, [2]string{end.op, end.further + "(" + strings.Join(values, ", ") + ")"})
		}
	}
	return list
}

// named reads what a filter names by its ids, each by its key; what else is asked for is held against it.
func named(from string, held ...string) way { return way{from: from, held: held} }

// namedIn is a FROM clause, which begins with a table and its alias, for the rows of some ids alone.
func namedIn(alias, ids, from string) string {
	return "unnest(" + ids + ") n(id)" + joinedTo("n.id", alias, from)
}

// joinedTo joins such a clause to an id.
func joinedTo(id, alias, from string) string {
	table, more, _ := strings.Cut(from, " "+alias)
	return joinByID(table, alias, id) + more
}

// value adds the value of a term as an argument.
func (s *statement) value(t Term, typ string) string { return s.arg(t.Value, typ) }

func (s *statement) condition(t Term) string {
	return s.filled(s.list.members[t.Member], t.arguments()...)
}

// filled is a condition with arguments: the first one for each ?, and the second for each !.
func (s *statement) filled(condition string, args ...any) string {
	for i, v := range args {
		s.args = append(s.args, v)
		condition = strings.ReplaceAll(condition, "?!"[i:i+1], "$"+strconv.Itoa(len(s.args)))
	}
	return condition
}

// read gives the rows of a way, as far as the page needs them; gate, where there is one, is true or false for all of them.
func (s *statement) read(w way, gate string) string {
	where, held, gates := w.indexed(), w.beside(), []string{}
	if gate != "" {
		gates = append(gates, gate)
	}
	switch {
	case s.counting:
		return w.all(s.list.id+" AS id", append(where, held...))
	case w.sorted:
		name := func(i int) string { return "n." + s.column(i) }
		return "SELECT " + s.found(name) + " FROM " + w.from + clause(append(held, gates...)) + s.orderBy("", name) + " LIMIT " + s.rows
	case !w.ordered:
		return "SELECT * FROM (" + w.all(s.found(s.by(w)), append(where, held...), gates...) + " OFFSET 0) b" +
			clause(s.beyond("", "", s.column)) + s.orderBy("", s.column) + " LIMIT " + s.rows
	}
	where = append(append(slices.Clone(w.where), s.bounds(w)...), held...)
	if w.each == "" {
		return s.walked("SELECT " + s.found(s.by(w)) + " FROM " + w.from + clause(append(where, gates...)) + s.orderBy(w.lead, s.by(w)))
	}
	walk, each := "SELECT "+s.found(s.by(w))+" FROM "+w.from+clause(where)+s.orderBy(w.lead, s.by(w)), w.each
	if w.first != "" {
		each = "(SELECT " + w.first + ".* FROM " + each + " CROSS JOIN LATERAL (" + walk + " LIMIT 1) b" + clause(gates) + s.orderBy("", s.column) + " LIMIT " + s.rows + ") " + w.first
	}
	return "SELECT b.* FROM " + each + " CROSS JOIN LATERAL (" + s.walked(walk) + ") b" + clause(gates) + s.merged() + " LIMIT " + s.rows
}

// walked reads an ordered text as far as the page needs it. How far that may be at most stands there as a number, one of a few: of an argument the planner
// expects a tenth of all rows, and to order all of them would look as good then as to walk the index that has them in order.
func (s *statement) walked(text string) string {
	most := paging.MaxFirst / 8
	for most < s.page.Size {
		most *= 2
	}
	return "SELECT * FROM (" + text + " LIMIT " + strconv.Itoa(most+1) + ") b LIMIT " + s.rows
}

// all selects columns of all rows of a way that fit some conditions. Where there are several to begin from, the rows of each are
// found by its key, and none is begun from where a gate is shut.
func (w way) all(columns string, where []string, gates ...string) string {
	text := "SELECT " + columns + " FROM " + w.from
	if w.each == "" {
		return text + clause(append(where, gates...))
	}
	return "SELECT b.* FROM " + w.each + " CROSS JOIN LATERAL (" + text + clause(where) + " OFFSET 0) b" + clause(gates)
}

// indexed are the conditions that an index finds the rows by.
func (w way) indexed() []string {
	where := slices.Clone(w.where)
	if w.lead != "" {
		where = append(where, w.lead+" BETWEEN "+w.is+" AND "+w.is)
	}
	return where
}

// beside are those that are held against the rows: an index is read for nothing but what the way says.
func (w way) beside() []string {
	held := make([]string, len(w.held))
	for i, h := range w.held {
		held[i] = unindexed(h)
	}
	return held
}

func clause(conditions []string) string {
	if len(conditions) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(conditions, " AND ")
}

// alternative reads in the first way that has few rows, and otherwise in the last one. How many there are is found out as
// the statement runs, so that a plan that is made once is right for all arguments.
func (s *statement) alternative(ways []way) string {
	last := len(ways) - 1
	if last == 0 || s.counting {
		return "(" + s.read(ways[0].at("("+ways[0].ids+")"), s.open) + ")"
	}
	var with []string
	gates, reads, open := "", []string{}, cmp.Or(s.open, "true")
	for i, w := range ways[:last] {
		g := "g" + strconv.Itoa(i)
		most := cmp.Or(w.most, handful)
		if w.met != "" {
			with, w.size = append(with, "met AS MATERIALIZED (SELECT x.id FROM ("+w.met+") x LIMIT (SELECT "+strconv.Itoa(most+1)+"))"), "met"
		}
		with = append(with, w.with...)
		if w.ids != "" && w.listed == nil {
			w.listed = func(open, _ string) string { return listed(w.ids, most, open) }
		}
		if i > 0 {
			gates += " CROSS JOIN LATERAL "
		}
		if w.listed != nil {
			gates += "(" + w.listed(open, "g"+strconv.Itoa(i-1)) + ") " + g
			reads = append(reads, "("+s.read(w.at("unnest("+g+".ids)"), open+" AND NOT "+g+".many")+")")
			open = g + ".many"
			continue
		}
		many := "(SELECT count(*) > " + strconv.Itoa(most) + " FROM (SELECT FROM " + cmp.Or(w.size, "("+w.all(s.list.id, w.indexed())+") x") + " LIMIT (SELECT " + strconv.Itoa(most+1) + ")) w)"
		if open != "true" {
			many = "CASE WHEN " + open + " THEN " + many + " END"
		}
		gates += "(SELECT " + many + " AS many OFFSET 0) " + g
		reads = append(reads, "("+s.read(w, open+" AND NOT "+g+".many")+")")
		open = g + ".many"
	}
	reads = append(reads, "("+s.read(ways[last], open)+")")
	begin := ""
	if len(with) > 0 {
		begin = "WITH " + strings.Join(with, ", ") + " "
	}
	return "(" + begin + "SELECT r.* FROM " + gates + " CROSS JOIN LATERAL (" + strings.Join(reads, " UNION ALL ") + ") r)"
}

// at is the way of the rows that were listed somewhere.
func (w way) at(listed string) way {
	if w.ids != "" || w.listed != nil {
		w.from, w.ids, w.listed = listed+" n(id)"+w.from, "", nil
	}
	return w
}

// isMet tells whether an id is among those that are met: they are looked up in a table that is made of them once.
func isMet(id string) string { return "(" + id + " IN (SELECT id FROM met)) IS TRUE" }

// listed lists rows while it counts them, on a condition.
func listed(ids string, most int, open string) string {
	return "SELECT count(*) > " + strconv.Itoa(most) + " AS many, array_agg(DISTINCT w.id) AS ids FROM (SELECT x.id FROM (" + ids + ") x WHERE " + open +
		" LIMIT (SELECT " + strconv.Itoa(most+1) + ")) w OFFSET 0"
}

// pageOf gives the rows of the alternatives of a filter, each once, in order.
func (s *statement) pageOf(alternatives []string) string {
	return "SELECT * FROM (" + strings.Join(alternatives, " UNION ") + ") u" + s.merged() + " LIMIT " + s.rows
}

// merged is the order of rows that were found in several places.
func (s *statement) merged() string {
	if s.unsorted {
		return ""
	}
	return s.orderBy("", s.column)
}

// pagesOf reads a page of what hangs from each of the rows of a FROM clause, as k.id.
func (s *statement) pagesOf(from string, a Ask, h hung) string {
	alternatives := a.Where().alternatives()
	if !h.few || len(alternatives) > 1 {
		return s.shown(from+" CROSS JOIN LATERAL ", s.pageOf(s.alternatives(a, h.ways)), "k.id")
	}
	w := h.ways(s, alternatives[0])[0]
	each := w.all(s.found(s.by(w)), append(w.indexed(), w.beside()...))
	return s.shown("", "SELECT * FROM (SELECT b.*, k.id AS owner, row_number() OVER (PARTITION BY k.id"+s.orderBy("", s.column)+") AS nth FROM "+from+
		" CROSS JOIN LATERAL ("+each+" OFFSET 0) b"+clause(s.beyond("", "", s.column))+") n WHERE nth <= "+s.rows, "f.owner")
}

// shown reads the columns of the rows that were found, and their places. begin is what stands before found, when it is a
// LATERAL of that.
func (s *statement) shown(begin, found, via string) string {
	text, tables := "SELECT "+s.list.columns+", "+s.place(), s.list.tables
	if s.carries {
		tables = s.list.handed
	}
	name := func(i int) string { return "f." + s.column(i) }
	from := begin + "(" + found + ") f"
	if s.list.several != "" {
		from, via = s.firstOf(from+s.list.several, via, name)
	}
	if via != "" {
		text += ", " + via + " AS found_from"
	}
	return text + " FROM " + from + tables + s.orderBy(via, name)
}

// firstOf chooses the first of several rows m for each that was found, and gives the name of what these hang from.
func (s *statement) firstOf(from, via string, name func(int) string) (chosen, owner string) {
	columns, by := "f.*, m.*", make([]string, len(s.keys))
	for i := range by {
		by[i] = name(i)
	}
	if via != "" {
		columns, by, owner = via+" AS owner, "+columns, append([]string{via}, by...), "f.owner"
	}
	return "(SELECT DISTINCT ON (" + strings.Join(by, ", ") + ") " + columns + " FROM " + from + s.orderBy(via, name) + ", " + s.list.first + ") f", owner
}

// place is the place of a row that was found. An id alone needs no array of texts, which takes both sides longer than other columns.
func (s *statement) place() string {
	if len(s.keys) == 1 && s.keys[0].by == s.list.id {
		return "f." + s.column(0) + " AS found_at"
	}
	places := make([]string, len(s.keys))
	for i, k := range s.keys {
		places[i] = strings.ReplaceAll(k.kind.write, "?", "f."+s.column(i))
	}
	return "ARRAY[" + strings.Join(places, ", ") + "] AS found_place"
}
