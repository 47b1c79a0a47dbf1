package db

import (
	"context"
	"strconv"
)

const nameOfContext = `lower(x.name) COLLATE "C"`

// Contexts lists contexts x of a desk, whose arguments are $1 and $2.
var Contexts = &List{
	id: "x.id",
	members: map[string]string{
		"ids":        `x.id = ANY (?::bigint[])`,
		"accountId":  `x.account_id = ?::bigint`,
		"shareState": `x.share_state = ?::integer`,
		searched:     matching("x.name"),
		nearBy:       near("x.name"),
	},
	orders: map[string]key{
		"ID":         {by: "x.id", kind: integers},
		"NAME":       {by: nameOfContext, kind: texts},
		"CREATED_AT": {by: "x.created_at", kind: moments},
	},
	otherwise: "ID",
	columns:   contextColumns,
	tables:    joinByID("contexts", "x", "f.id"),
}

func contextsOnDesk(st *statement, terms []Term) []way {
	w := way{from: "contexts x", where: []string{shownOn + " IS NOT NULL"}, lead: shownOn, is: "$1::bigint", held: append(st.terms(terms), onDesk), ordered: !st.counting} // as its indexes have it
	if ids, given := value(terms, "ids"); given {
		return []way{named("unnest("+st.arg(ids, "bigint[]")+") n(id)"+joinByID("contexts", "x", "n.id"), w.held...)}
	}
	if id, given := value(terms, "accountId"); given && id != strconv.FormatInt(st.args[0].(int64), 10) { // whose contexts are on its own desk alone
		return []way{{from: "contexts x", where: []string{"false"}}}
	}
	in := wordsOfContexts
	in.held, in.walk, in.spread = w.held, &w, &w
	if list, given := in.ways(st, terms); given && !st.counting {
		return list
	}
	return []way{w}
}

// wordsOfContexts finds contexts by the words of their names.
var wordsOfContexts = searching{
	table: "contexts x", id: "x.id", fits: "words_of(x.name) @@ ?", from: joinByID("contexts", "x", "n.id"), own: onDesk, others: true,
	keys: map[string]string{"x.id": "x.id", nameOfContext: nameOfContext, "x.created_at": "x.created_at"},
}

// FindContexts is a page of a desk's contexts.
func (s *Store) FindContexts(ctx context.Context, d Desk, a Ask) ([]*Context, error) {
	return find[Context](ctx, s, Contexts, a, contextsOnDesk, d.args()...)
}

// CountContexts counts a desk's contexts that are asked for.
func (s *Store) CountContexts(ctx context.Context, d Desk, a Ask) (int, error) {
	return countOf(ctx, s, Contexts, a.counted(), contextsOnDesk, d.args()...)
}
