package pgconn

import (
	"database/sql/driver"
	"fmt"
	"testing"
)

// counted is a statement that counts how often one like it was prepared and closed.
type counted struct {
	wholeStmt
	closed *int
}

func (c counted) Close() error {
	*c.closed++
	return nil
}

// TestLatestKeepsWhatIsUsed: a statement is prepared once while it is in use, and what was not used for the longest time makes room.
func TestLatestKeepsWhatIsUsed(t *testing.T) {
	var l latest
	prepared, closed := map[string]int{}, 0
	run := func(query string) {
		t.Helper()
		if _, err := l.keep(query, func() (driver.Stmt, error) { prepared[query]++; return counted{closed: &closed}, nil }); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 3 * mostComposed {
		run("hot")
		run(fmt.Sprint("once ", n))
	}
	if prepared["hot"] != 1 || len(l.list) != mostComposed || closed != 2*mostComposed+1 {
		t.Errorf("prepared %d times, %d are kept, %d were closed", prepared["hot"], len(l.list), closed)
	}
	run("once 0")
	if prepared["once 0"] != 2 {
		t.Error("what was not used for long is kept")
	}
}
