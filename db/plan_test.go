package db

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
)

// PlanNode is a node of a plan as EXPLAIN tells it.
type PlanNode struct {
	Type      string     `json:"Node Type"`
	Relation  string     `json:"Relation Name"`
	Index     string     `json:"Index Name"`
	Condition string     `json:"Index Cond"`
	Rows      float64    `json:"Actual Rows"`
	Loops     float64    `json:"Actual Loops"`
	Filtered  float64    `json:"Rows Removed by Filter"`
	Rechecked float64    `json:"Rows Removed by Index Recheck"`
	Unjoined  float64    `json:"Rows Removed by Join Filter"`
	Plans     []PlanNode `json:"Plans"`
}

// atATime is how many rows of a table that is read from one end to the other take as long as one that an index finds.
const atATime = 10

// Reads counts the rows that a plan reads, and those pairs that it puts together in vain.
func (n PlanNode) Reads() (rows float64) {
	for _, p := range n.Plans {
		rows += p.Reads()
	}
	switch n.Type {
	case "Seq Scan":
		rows += (n.Rows + n.Filtered) * n.Loops / atATime
	case "Subquery Scan", "Bitmap Heap Scan": // what is below them is counted
	default:
		if strings.HasSuffix(n.Type, " Scan") || n.Type == "Materialize" {
			rows += max(1, n.Rows+n.Filtered+n.Rechecked) * n.Loops
		}
	}
	return rows + n.Unjoined*n.Loops
}

// String tells where the rows are read, a line for each node.
func (n PlanNode) String() string {
	text := fmt.Sprintf("%s %s %s %s: %.0f rows and %.0f in vain, %.0f times", n.Type, n.Relation, n.Index, n.Condition,
		n.Rows, n.Filtered+n.Rechecked+n.Unjoined, n.Loops)
	for _, p := range n.Plans {
		text += "\n  " + strings.ReplaceAll(p.String(), "\n", "\n  ")
	}
	return text
}

// Explain runs a statement and gives its plan.
func Explain(ctx context.Context, on interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}, statement string, args ...any,
) (PlanNode, error) {
	var told []byte
	err := on.QueryRowContext(ctx, "EXPLAIN (ANALYZE, BUFFERS OFF, TIMING OFF, FORMAT JSON) "+statement, args...).Scan(&told)
	if err != nil {
		return PlanNode{}, err
	}
	var plans []struct{ Plan PlanNode }
	if err := json.Unmarshal(told, &plans); err != nil {
		return PlanNode{}, err
	}
	return plans[0].Plan, nil
}
