package db

import (
	"context"
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/lib/pq/oid"
)

// atLeastEmpty makes a missing key the empty array, which sorts before every lineage.
func atLeastEmpty(key []int64) []int64 {
	if key == nil {
		return []int64{}
	}
	return key
}

// unindexed gives a condition that is only held against the rows which others have found: no index is read for it. A plan is
// made once for all arguments, and with statistics that may be old: what a key finds is found by the key alone, so that no
// plan takes the rest for the shorter way, such as the index of all that is at work, or that of a whole scope.
func unindexed(condition string) string { return "COALESCE(" + condition + ", false)" }

// joinByID joins the row of a table, under an alias, whose id is at hand. OFFSET 0 keeps the look-up in its place: it is done
// for each row that the statement has come to until there, by the key, however few rows of the table there seem to be.
func joinByID(table, alias, id string) string {
	return ` CROSS JOIN LATERAL (SELECT * FROM ` + table + ` WHERE id = ` + id + ` OFFSET 0) ` + alias + ` `
}

// leftByID joins as joinByID does, where there may be no such row.
func leftByID(table, alias, id string) string {
	return ` LEFT JOIN LATERAL (SELECT * FROM ` + table + ` WHERE id = ` + id + ` OFFSET 0) ` + alias + ` ON true `
}

// eachByID reads the rows of a table, under an alias, whose ids are in the argument behind the scope, one by one.
func eachByID(table, alias string) string {
	return ` FROM unnest($3::bigint[]) k(id)` + joinByID(table, alias, "k.id")
}

// unnest reads arguments from first on, arrays of some types, side by side.
func unnest(first int, types []string) string {
	args := make([]string, len(types))
	for i, t := range types {
		args[i] = "$" + strconv.Itoa(first+i) + "::" + t + "[]"
	}
	return "unnest(" + strings.Join(args, ", ") + ")"
}

// binaryArray is an array of texts or bytes in the form that the server sends and takes as bytes. What is long is not looked through there and
// here for what has to be quoted.
func binaryArray[T string | []byte](of oid.Oid, list []T) []byte {
	const head, each = 20, 4
	size := head
	for _, x := range list {
		size += each + len(x)
	}
	b := make([]byte, 0, size)
	// One dimension, without NULL, its elements, and from which on they count.
	for _, n := range []uint32{1, 0, uint32(of), uint32(len(list)), 1} {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	for _, x := range list {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(x))), x...)
	}
	return b
}

// withoutTimeout runs do without the statement timeout: for what reads much, at this process's own pace.
func (s *Store) withoutTimeout(ctx context.Context, do func(*Store) error) error {
	return s.Tx(ctx, func(tx *Store) error {
		if _, err := tx.exec(ctx, qNoTimeout); err != nil {
			return err
		}
		return do(tx)
	})
}

var qNoTimeout = prepare(`SET LOCAL statement_timeout = 0`)
