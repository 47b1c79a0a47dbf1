package db

import "context"

const nameOfDocument = `lower(d.display_name) COLLATE "C"`

// Documents lists documents d of contexts x.
var Documents = &List{
	id: "d.id",
	members: map[string]string{
		"ids":          `d.id = ANY (?::bigint[])`,
		"contextId":    `d.context_id = ?::bigint`,
		"status":       `d.status = ?::text`,
		"format":       `d.format = ?::text`,
		"attributes":   `d.attributes @@ ?::jsonpath`,
		"createdSince": `d.created_at >= ?::timestamptz`,
		"createdUntil": `d.created_at < ?::timestamptz`,
		searched:       matching("d.display_name"),
		nearBy:         near("d.display_name"),
	},
	orders: map[string]key{
		"ID":         {by: "d.id", kind: integers},
		"NAME":       {by: nameOfDocument, kind: texts},
		"CREATED_AT": {by: "d.created_at", kind: moments},
		"SIZE":       {by: "d.size", kind: integers},
		"STATUS":     {by: "d.status", kind: texts},
	},
	otherwise: "ID",
	columns:   documentColumns,
	tables:    joinByID("documents", "d", "f.id"),
}

// documentsOfContext are the documents of a context.
var documentsOfContext = hung{list: Documents, ways: func(st *statement, terms []Term) []way {
	return st.documentsOf("k.id", terms)
}}

// documentsOf are the ways to the documents of one context.
func (s *statement) documentsOf(context string, terms []Term) []way {
	walk, few := s.walkDocuments("", context, terms), s.fewDocuments("", context, terms)
	in, own := wordsOfDocuments, "d.context_id = "+context
	in.own, in.held, in.few, in.walk, in.spread = own, append(s.terms(terms), own), few, &walk, &walk
	if list, given := in.ways(s, terms); given && !s.counting {
		return list
	}
	return append(few, walk)
}

// wordsOfDocuments finds documents by the words of their names.
var wordsOfDocuments = searching{
	table: "documents d", id: "d.id", fits: "words_of(d.display_name) @@ ?", from: joinByID("documents", "d", "n.id"), others: true,
	keys: map[string]string{"d.id": "d.id", nameOfDocument: nameOfDocument, "d.created_at": "d.created_at", "d.size": "d.size", "d.status": "d.status"},
}

// walkDocuments walks the documents of contexts: indexes have them in each order.
func (s *statement) walkDocuments(each, context string, terms []Term) way {
	w := way{each: each, from: "documents d", held: s.terms(terms)}
	if s.counting {
		w.where = []string{"d.context_id = " + context}
		return w
	}
	w.lead, w.is, w.ordered = "d.context_id", context, true
	if s.ordersBy("d.created_at") {
		w.spans = s.spans(terms, "createdSince", "createdUntil")
	}
	if each != "" {
		w.first = "x"
	}
	return w
}

// fewDocuments are the ways to the documents of contexts whose status or format is one that few have, or that were made at a time when few were.
func (s *statement) fewDocuments(each, context string, terms []Term) (list []way) {
	for _, t := range terms {
		if t.Member == "status" || t.Member == "format" {
			list = append(list, way{each: each, from: "documents d", where: []string{"d.context_id = " + context, s.condition(t)}, held: s.terms(terms)})
		}
	}
	if period := s.period(terms, "createdSince", "createdUntil"); len(period) > 0 && !s.counting && !s.ordersBy("d.created_at") {
		list = append(list, way{each: each, from: "documents d", where: append(period, "d.context_id = "+context), held: s.terms(terms)})
	}
	return list
}

// documentsOnDesk are the ways to the documents of a desk's contexts; the desk's arguments are $1 and $2.
func documentsOnDesk(st *statement, terms []Term) []way {
	if ids, given := value(terms, "ids"); given {
		return []way{named("unnest("+st.arg(ids, "bigint[]")+") n(id)"+joinByID("documents", "d", "n.id")+joinByID("contexts", "x", "d.context_id"), append(st.terms(terms), onDesk)...)}
	}
	if id, given := value(terms, "contextId"); given {
		return st.documentsOf("(SELECT x.id FROM contexts x WHERE x.id = "+st.arg(id, "bigint")+" AND "+onDesk+")", terms)
	}
	desk := "contexts x WHERE " + shownOn + " = $1 AND " + unindexed(onDesk)
	each := "(SELECT * FROM " + desk + " OFFSET 0) x"
	walk, few := st.walkDocuments(each, "x.id", terms), st.fewDocuments(each, "x.id", terms)
	in := wordsOfDocuments
	in.own = "d.context_id IN (SELECT x.id FROM " + desk + ")"
	in.from += joinByID("contexts", "x", "d.context_id")
	in.held, in.few, in.walk, in.walkMany = append(st.terms(terms), onDesk), few, &walk, true
	if !st.counting {
		in.spread = &way{from: "documents d", held: st.terms(terms)}
	}
	if list, given := in.ways(st, terms); given {
		return list
	}
	return append(few, walk)
}

// FindDocuments is a page of the documents of a desk's contexts.
func (s *Store) FindDocuments(ctx context.Context, d Desk, a Ask) ([]*Document, error) {
	return find[Document](ctx, s, Documents, a, documentsOnDesk, d.args()...)
}

// CountDocuments counts the documents of a desk's contexts that are asked for.
func (s *Store) CountDocuments(ctx context.Context, d Desk, a Ask) (int, error) {
	return countOf(ctx, s, Documents, a.counted(), documentsOnDesk, d.args()...)
}
