package db

// Chunks lists chunks y of a document.
var Chunks = &List{
	id: "y.id",
	members: map[string]string{
		"ids":           `y.id = ANY (?::bigint[])`,
		"page":          `y.page = ?::integer`,
		"positionFrom":  `y.position >= ?::integer`,
		"positionUntil": `y.position < ?::integer`,
		searched:        matching("y.content"),
		nearBy:          near("y.content"),
	},
	orders: map[string]key{
		"ID":       {by: "y.id", kind: integers},
		"POSITION": {by: "y.position", kind: integers, once: true},
	},
	otherwise: "POSITION",
	columns:   columns[Chunk]("y"),
	tables:    joinByID("chunks", "y", "f.id"),
}

// chunksOfDocument are those of its revision, once it is ready. An index has their places; what they say is read.
var chunksOfDocument = hung{list: Chunks, ways: func(st *statement, terms []Term) []way {
	ready := "(SELECT id, revision FROM documents WHERE id = k.id AND " + unindexed("status = 'ready'") + " OFFSET 0) d"
	where := append([]string{"y.document_id = d.id", "y.revision = d.revision"}, st.period(terms, "positionFrom", "positionUntil")...)
	return []way{{each: ready, from: "chunks y", where: where, held: st.terms(terms), ordered: st.ordersBy("y.position")}}
}}
