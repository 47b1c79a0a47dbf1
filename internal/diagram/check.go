package diagram

import (
	"context"
	"maps"
	"slices"
)

// Checked is what is known of a diagram that may be unfinished.
type Checked struct {
	// Faults are those that Parse tells of.
	Faults []Fault
	// Steps are what each step reads, in the order of the steps. What can't be compiled is a fault, and reads nothing.
	Steps  []Reads
	Output Reads
}

// Reads is what the expressions of a part of a diagram read: members of the input, results of earlier steps, and secrets,
// each by name and in the order of the names.
type Reads struct {
	Input, Steps, Secrets []string
}

// Check reads a diagram of a branch, be it valid or not, when it is the branch's turn. The error is the context's.
func Check(ctx context.Context, branch int64, raw []byte) (*Checked, error) {
	return inTurn(ctx, branch, func() *Checked { return checked(ctx, raw) })
}

func checked(ctx context.Context, raw []byte) *Checked {
	d, faults := read(ctx, raw)
	out := &Checked{Faults: faults, Steps: make([]Reads, len(d.Steps)), Output: d.refs.reads()}
	for i := range d.Steps {
		out.Steps[i] = d.Steps[i].refs.reads()
	}
	return out
}

func (r *refs) reads() Reads {
	return Reads{Input: sorted(r.members), Steps: sorted(r.steps), Secrets: sorted(r.secrets)}
}

func sorted(set names) []string { return append([]string{}, slices.Sorted(maps.Keys(set))...) }
