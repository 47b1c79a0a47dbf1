package db

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// putRight makes the replica what the home's snapshot has, and has the subscription go on from there: all of it at once, or nothing.
func (a *anew) putRight(ctx context.Context, tables []anewTable) error {
	return aside(ctx, func() error {
		return a.change(ctx, func(tx *sqlx.Tx) error {
			// What fires for replicated rows alone fires for these, and nothing else does: no reference is looked at, and nothing is deleted with what it belongs to.
			if _, err := tx.ExecContext(ctx, `SET LOCAL session_replication_role = replica`); err != nil {
				return err
			}
			for _, t := range tables {
				for _, text := range t.right() {
					if _, err := tx.ExecContext(ctx, text); err != nil {
						return fmt.Errorf("%s: %w", t.name, err)
					}
				}
			}
			if _, err := tx.ExecContext(ctx, `ALTER SUBSCRIPTION `+publication+` ENABLE`); err != nil {
				return err
			}
			return a.kept(ctx)
		})
	})
}

// right are the statements that put a table right. A row that is other is changed and not made anew, as what is changed may be what triggers tell of, and whoever refers to it goes on finding it.
func (t anewTable) right() []string {
	same := make([]string, len(t.key))
	for i, k := range t.key {
		same[i] = fmt.Sprintf("x.%s = n.%[1]s", pq.QuoteIdentifier(k.name))
	}
	match := strings.Join(same, " AND ")
	var set []string
	for _, c := range t.columns {
		if !slices.ContainsFunc(t.key, func(k anewKey) bool { return k.name == c }) {
			set = append(set, fmt.Sprintf("%s = n.%[1]s", pq.QuoteIdentifier(c)))
		}
	}
	lose := fmt.Sprintf(`DELETE FROM %s x USING %s n WHERE %s`, t.name, t.gone(), match)
	get := fmt.Sprintf(`INSERT INTO %s (%s) SELECT %s FROM %s n WHERE NOT EXISTS (SELECT FROM %[1]s x WHERE %[5]s)`,
		t.name, quoted(t.columns, ""), quoted(t.columns, "n."), t.staged(), match)
	change := fmt.Sprintf(`UPDATE %s x SET %s FROM %s n WHERE %s`, t.name, strings.Join(set, ", "), t.staged(), match)
	if t.name == "customers" {
		// Where a company comes to must be there, and where it was is counted down before that goes.
		return []string{get, moveAnew, change, lose}
	}
	// Two rows may have swapped what is unique, so that neither can be the first to change: then both come anew.
	return []string{lose, fmt.Sprintf(`DO $$ BEGIN %s; EXCEPTION WHEN unique_violation THEN DELETE FROM %s x USING %s n WHERE %s; END $$`, change, t.name, t.staged(), match), get}
}

// moveAnew moves companies, by the trigger that has counts follow (customer_replicated), which takes each move by itself: one of several within each other would be counted twice or not at all. So
// each is first put right below the root, those that were the deepest first, and then where it is now, the highest first: what moves is then what has not moved by itself.
const moveAnew = `
DO $$
DECLARE
    root bigint := (SELECT id FROM customers WHERE parent_id IS NULL);
    c    record;
BEGIN
    FOR c IN SELECT x.id FROM customers x JOIN anew_customers n ON n.id = x.id WHERE x.parent_id <> n.parent_id ORDER BY x.level DESC LOOP
        UPDATE customers SET parent_id = root, lineage = ARRAY[root, c.id] WHERE id = c.id;
    END LOOP;
    FOR c IN SELECT n.id, n.parent_id, n.lineage FROM customers x JOIN anew_customers n ON n.id = x.id WHERE x.parent_id <> n.parent_id ORDER BY cardinality(n.lineage) LOOP
        UPDATE customers SET parent_id = c.parent_id, lineage = c.lineage WHERE id = c.id;
    END LOOP;
END $$`
