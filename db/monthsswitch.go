package db

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lib/pq"
)

// stuck is for how long at most one statement of a short transaction may run: were a table read whole, nothing of it is done.
const stuck = "3s"

// lock takes tables for the transaction alone, as their owner.
func (tx *monthTx) lock(ctx context.Context, tables []string) error {
	owner, err := tx.log.owner(ctx, tx)
	if err != nil {
		return err
	}
	texts := []string{`SET LOCAL ROLE ` + owner, fmt.Sprintf(`SET LOCAL lock_timeout = %d`, monthWait.Milliseconds()), fmt.Sprintf(`SET LOCAL statement_timeout = %d`, 2*monthWait.Milliseconds())}
	if len(tables) > 0 {
		texts = append(texts, `LOCK TABLE `+strings.Join(tables, ", ")+` IN ACCESS EXCLUSIVE MODE`)
	}
	err = tx.exec(ctx, texts...)
	if pe := new(pq.Error); errors.As(err, &pe) && pe.Code == "57014" { // the statement's time is over, as it waited for several
		return fmt.Errorf("%w: %w", ErrBusy, err)
	}
	if err != nil {
		return err
	}
	return tx.exec(ctx, `SET LOCAL statement_timeout = '`+stuck+`'`)
}

// ofTable is what a table has beside its columns, as statements that make it.
type ofTable struct {
	indexes []struct {
		Name       string `db:"name"`
		Made       string `db:"made"`
		Constraint string `db:"made_by"`
		// Apart: it is unique without the key, which the index of a partitioned table can't be. Each partition has its own.
		Apart bool `db:"apart"`
	}
	triggers []struct {
		Name    string `db:"name"`
		Made    string `db:"made"`
		Enabled string `db:"enabled"`
	}
	grants []string
	series *series
}

// series is the sequence of a table's ids.
type series struct {
	Name   string `db:"name"`
	Start  int64  `db:"start"`
	Least  int64  `db:"least"`
	Most   int64  `db:"most"`
	Last   int64  `db:"last"`
	Called bool   `db:"called"`
}

// read reads what a table has. References are each partition's own, and not among it.
func (tx *monthTx) read(ctx context.Context, t logTable) (of ofTable, err error) {
	for text, into := range map[string]any{
		`SELECT c.relname::text AS name, pg_get_indexdef(i.indexrelid) AS made, COALESCE(pg_get_constraintdef(k.oid), '') AS made_by,
			i.indisunique AND NOT (SELECT attnum FROM pg_attribute WHERE attrelid = i.indrelid AND attname = '` + t.key + `') = ANY ((i.indkey::int2[])[0:i.indnkeyatts - 1]) AS apart
			FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid LEFT JOIN pg_constraint k ON k.conindid = i.indexrelid AND k.conrelid = i.indrelid AND k.contype IN ('p', 'u')
			WHERE i.indrelid = $1::regclass ORDER BY i.indexrelid`: &of.indexes,
		`SELECT tgname::text AS name, pg_get_triggerdef(oid) AS made, tgenabled::text AS enabled FROM pg_trigger WHERE tgrelid = $1::regclass AND NOT tgisinternal ORDER BY oid`: &of.triggers,
		`SELECT format('GRANT %s ON %s TO %s%s', a.privilege_type, c.oid::regclass, CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END, CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
			FROM pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) a WHERE c.oid = $1::regclass AND a.grantee <> c.relowner
			UNION ALL SELECT format('GRANT %s (%I) ON %s TO %s%s', a.privilege_type, t.attname, c.oid::regclass, CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END, CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
			FROM pg_class c JOIN pg_attribute t ON t.attrelid = c.oid AND t.attnum > 0 AND NOT t.attisdropped CROSS JOIN LATERAL aclexplode(t.attacl) a WHERE c.oid = $1::regclass`: &of.grants,
	} {
		if err := tx.SelectContext(ctx, into, text, t.name); err != nil {
			return of, translate(ctx, err)
		}
	}
	if t.name != tx.log.table() {
		return of, nil
	}
	// Who may write a table may use its identity; of a default the sequence asks for a right of its own.
	var rights []string
	if err := tx.SelectContext(ctx, &rights, `
		SELECT format('GRANT %s ON SEQUENCE %s TO %s', a.privilege_type, s.oid::regclass, CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END)
		FROM pg_class s CROSS JOIN LATERAL aclexplode(s.relacl) a WHERE s.oid = $2::regclass AND a.grantee <> s.relowner
		UNION SELECT format('GRANT USAGE ON SEQUENCE %s TO %s', $2::regclass, CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END)
		FROM (SELECT a.* FROM pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) a WHERE c.oid = $1::regclass
			UNION ALL SELECT a.* FROM pg_attribute t CROSS JOIN LATERAL aclexplode(t.attacl) a WHERE t.attrelid = $1::regclass) a
		WHERE a.privilege_type = 'INSERT' AND a.grantee <> (SELECT relowner FROM pg_class WHERE oid = $1::regclass)`, t.name, tx.log.sequence()); err != nil {
		return of, translate(ctx, err)
	}
	of.grants = append(of.grants, rights...)
	of.series = &series{}
	err = tx.GetContext(ctx, of.series, `
		SELECT s.seqrelid::regclass::text AS name, s.seqstart AS start, s.seqmin AS least, s.seqmax AS most, v.last_value AS last, v.is_called AS called
		FROM `+tx.log.sequence()+` v, pg_sequence s WHERE s.seqrelid = $1::regclass`, tx.log.sequence())
	return of, translate(ctx, err)
}

// changeOver makes what is there the first partition, up to an id, of a table of the same name.
func (tx *monthTx) changeOver(ctx context.Context, at int64) error {
	var all []ofTable
	for _, t := range tx.log.tables {
		of, err := tx.read(ctx, t)
		if err != nil {
			return err
		}
		all = append(all, of)
	}
	for i, t := range tx.log.tables {
		if err := tx.exec(ctx, all[i].whole(t)...); err != nil {
			return err
		}
		if err := tx.attach(ctx, t, beforeMonths, "MINVALUE", at); err != nil {
			return err
		}
	}
	for i := range tx.log.tables {
		if err := tx.exec(ctx, all[i].acts()...); err != nil {
			return err
		}
	}
	return nil
}

// whole gives the statements that rename a table, and make a partitioned one in its place, with the indexes of that.
func (of ofTable) whole(t logTable) []string {
	before := t.name + beforeMonths
	texts := []string{fmt.Sprintf(`ALTER TABLE %s RENAME TO %s`, t.name, before)}
	for _, g := range of.triggers {
		texts = append(texts, fmt.Sprintf(`DROP TRIGGER %s ON %s`, pq.QuoteIdentifier(g.Name), before))
	}
	if s := of.series; s != nil {
		texts = append(texts, fmt.Sprintf(`ALTER TABLE %s ALTER %s DROP IDENTITY`, before, t.key),
			fmt.Sprintf(`CREATE SEQUENCE %s AS bigint MINVALUE %d MAXVALUE %d START %d`, s.Name, s.Least, s.Most, s.Start),
			fmt.Sprintf(`SELECT setval('%s', %d, %t)`, s.Name, s.Last, s.Called))
	}
	texts = append(texts, fmt.Sprintf(`CREATE TABLE %s (LIKE %s INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING GENERATED INCLUDING STORAGE INCLUDING COMPRESSION INCLUDING COMMENTS)
		PARTITION BY RANGE (%s)`, t.name, before, t.key), fmt.Sprintf(`ALTER TABLE %s DROP CONSTRAINT %s`, t.name, lineName))
	if s := of.series; s != nil {
		texts = append(texts, fmt.Sprintf(`ALTER TABLE %s ALTER %s SET DEFAULT nextval('%s')`, t.name, t.key, s.Name), fmt.Sprintf(`ALTER SEQUENCE %s OWNED BY %s.%s`, s.Name, t.name, t.key))
	}
	for _, i := range of.indexes {
		texts = append(texts, fmt.Sprintf(`ALTER INDEX %s RENAME TO %s`, pq.QuoteIdentifier(i.Name), pq.QuoteIdentifier(inPart(i.Name, t.name, beforeMonths))))
		switch {
		case i.Apart:
		case i.Constraint != "":
			texts = append(texts, fmt.Sprintf(`ALTER TABLE %s ADD CONSTRAINT %s %s`, t.name, pq.QuoteIdentifier(i.Name), i.Constraint))
		default:
			texts = append(texts, i.Made)
		}
	}
	return append(texts, of.grants...)
}

// inPart is the name of a table's index in one of its partitions.
func inPart(name, table, suffix string) string {
	if rest, is := strings.CutPrefix(name, table); is {
		return table + suffix + rest
	}
	return name + suffix
}

// acts gives the statements that make a table's triggers.
func (of ofTable) acts() (texts []string) {
	for _, g := range of.triggers {
		texts = append(texts, g.Made)
		if how := map[string]string{"A": "ENABLE ALWAYS", "R": "ENABLE REPLICA", "D": "DISABLE"}[g.Enabled]; how != "" {
			table := g.Made[strings.Index(g.Made, " ON ")+len(" ON "):]
			texts = append(texts, fmt.Sprintf(`ALTER TABLE %s %s TRIGGER %s`, table[:strings.Index(table, " ")], how, pq.QuoteIdentifier(g.Name)))
		}
	}
	return texts
}

// attach makes a table a partition that ends in front of an id, which its line has proven unless it is as good as empty. A line that somebody has left elsewhere would refuse what may come.
func (tx *monthTx) attach(ctx context.Context, t logTable, suffix, from string, to int64) error {
	return tx.exec(ctx, fmt.Sprintf(`ALTER TABLE %s ATTACH PARTITION %[1]s%s FOR VALUES FROM (%s) TO (%d)`, t.name, suffix, from, to),
		fmt.Sprintf(`ALTER TABLE %s%s DROP CONSTRAINT IF EXISTS %s`, t.name, suffix, lineName))
}

// open attaches the partition that was made for the ids from one on, to right below another; 0 is without end.
func (tx *monthTx) open(ctx context.Context, from, to int64) error {
	end := "MAXVALUE"
	if to > 0 {
		end = fmt.Sprint(to)
	}
	for _, t := range tx.log.tables {
		if err := tx.exec(ctx, fmt.Sprintf(`ALTER TABLE %s ATTACH PARTITION %[1]s%s FOR VALUES FROM (%d) TO (%s)`, t.name, fromID(from), from, end)); err != nil {
			return err
		}
	}
	return nil
}

// detach has the tables whose names have a suffix be no partitions any more.
func (tx *monthTx) detach(ctx context.Context, suffix string) error {
	for _, t := range slices.Backward(tx.log.tables) {
		if err := tx.exec(ctx, fmt.Sprintf(`ALTER TABLE %s DETACH PARTITION %[1]s%s`, t.name, suffix)); err != nil {
			return err
		}
	}
	return nil
}

// close gives the open partition an end.
func (tx *monthTx) close(ctx context.Context, open part, at int64) error {
	suffix := open.suffix(tx.log)
	if err := tx.detach(ctx, suffix); err != nil {
		return err
	}
	for _, t := range tx.log.tables {
		if err := tx.attach(ctx, t, suffix, fmt.Sprint(*open.from), at); err != nil {
			return err
		}
	}
	return nil
}
