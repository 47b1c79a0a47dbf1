package db

// MaxCount is how far lists are counted: so that a count costs the same however long a list is, more is not told apart.
const MaxCount = 10_000

// countedTo is MaxCount and two more: a count tells that there is more, with or without the row that a list may leave out.
const countedTo = "10002"

// counted counts the rows of a FROM clause.
func counted(from string) string {
	return `(SELECT count(*) FROM (SELECT FROM ` + from + ` LIMIT ` + countedTo + `) counted)`
}

// countsBy counts the rows of a FROM clause for each k.id of the ids in an argument.
func countsBy(ids, from string) string {
	return `SELECT k.id, ` + counted(from) + ` AS value FROM unnest(` + ids + `::bigint[]) k(id)`
}
