package db

// MaxCount is how far lists are counted: so that a count costs the same however long a list is, more is not told apart.
const MaxCount = 10_000

// countedTo is MaxCount and two more: a count tells that there is more, with or without the row that a list may leave out.
const countedTo = "10002"

// counted counts the rows of a FROM clause. The LIMIT stands in a subselect, as one that the planner does not know: it looks for a
// way that gives the first rows soon then, and not for one that reads the whole list before it counts.
func counted(from string) string {
	return `(SELECT count(*) FROM (SELECT FROM ` + from + ` LIMIT (SELECT ` + countedTo + `)) counted)`
}
