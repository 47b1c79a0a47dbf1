package db

// The lists that nothing is filtered in: they have one order, that of their ids or numbers.

// What has no filter.
var (
	Accounts = &List{
		id: "a.id", orders: map[string]key{"ID": {by: "a.id", kind: integers}}, otherwise: "ID", columns: accountColumns,
		tables: joinByID("accounts", "a", "f.id") + instanceOf,
	}
	APIKeys = &List{
		id: "y.id", orders: map[string]key{"ID": {by: "y.id", kind: integers}}, otherwise: "ID", columns: columns[APIKey]("y"),
		tables: joinByID("api_keys", "y", "f.id"),
	}
	Revisions = &List{
		id: "v.id", orders: map[string]key{"NUMBER": {by: "v.number", kind: integers, once: true}}, otherwise: "-NUMBER", columns: revisionColumns,
		tables: joinByID("agent_revisions", "v", "f.id"),
	}
	Chunks = &List{
		id: "y.id", orders: map[string]key{"POSITION": {by: "y.position", kind: integers, once: true}}, otherwise: "POSITION", columns: columns[Chunk]("y"),
		tables: joinByID("chunks", "y", "f.id"),
	}
)

// hangs makes a list hang from rows by a column, in the order of its only key.
func (l *List) hangs(from, column string, where ...string) hung {
	return hung{list: l, ways: func(st *statement, _ []Term) []way {
		w := way{from: from, where: where}
		if st.counting {
			w.where = append([]string{column + " = k.id"}, where...)
		} else {
			w.lead, w.is, w.ordered = column, "k.id", true
		}
		return []way{w}
	}}
}
