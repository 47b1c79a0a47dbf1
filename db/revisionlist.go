package db

// Revisions lists revisions v of an agent, the newest first.
var Revisions = &List{
	id: "v.id",
	members: map[string]string{
		"ids":          `v.id = ANY (?::bigint[])`,
		"createdSince": `v.created_at >= ?::timestamptz`,
		"createdUntil": `v.created_at < ?::timestamptz`,
	},
	orders: map[string]key{
		"ID":         {by: "v.id", kind: integers},
		"NUMBER":     {by: "v.number", kind: integers, once: true},
		"CREATED_AT": {by: "v.created_at", kind: moments},
	},
	otherwise: "-NUMBER",
	columns:   revisionColumns,
	tables:    joinByID("agent_revisions", "v", "f.id"),
}

var revisionsOfAgent = hung{list: Revisions, ways: func(st *statement, terms []Term) []way {
	return []way{st.led(way{from: "agent_revisions v", held: st.terms(terms)}, "v.agent_id", "k.id", "v.number")}
}}
