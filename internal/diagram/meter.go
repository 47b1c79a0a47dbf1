package diagram

import (
	"context"
	"errors"
	"fmt"
	"reflect"
)

// Costs of an evaluation, in units of roughly one byte touched.
const (
	stepBudget  = 64 << 20 // what all expressions of one step may use together: about a second
	memoryUnits = 1 << 20  // list elements that one expression may make (the library's own count)
	valueCost   = 16       // one value looked at
	tickCost    = 64       // one round of a loop
	checkEvery  = 1 << 16  // units between two turns, and two looks at the context: about a millisecond
)

var errBudget = errors.New("the expressions of this step do too much work")

// meter bounds the work of one step's expressions. The library counts the memory that lists take,
// but neither rounds of loops nor the bytes of strings; the guard adds calls of the meter to every
// expression at those places. Nothing runs in the background: an evaluation that goes over its
// budget, or whose context has ended, stops at its next call.
type meter struct {
	turn
	left int
	// since is what was done since the last turn.
	since int
}

func newMeter(ctx context.Context, branch int64, p *patience) *meter {
	return &meter{turn: turn{ctx: ctx, branch: branch, patience: p}, left: stepBudget}
}

// spend takes units off the budget.
func (m *meter) spend(units int) error {
	if units < 0 || units > m.left { // negative: a product that overflowed
		m.left = 0
		return errBudget
	}
	m.left -= units
	return m.pass(units)
}

// pass counts work that is no expression's: bounded otherwise, but done by turns.
func (m *meter) pass(units int) error {
	if m.since += units; m.since < checkEvery {
		return nil
	}
	m.since = 0
	return m.next()
}

// flat charges a value without its parts.
func (m *meter) flat(v any) error {
	if s, ok := v.(string); ok {
		return m.spend(valueCost + len(s))
	}
	return m.spend(valueCost)
}

// deep charges a value with all its parts, each as often as it is referred to. Values nested more
// deeply than JSON may be are refused, since the library's functions would follow them by recursion.
func (m *meter) deep(v any) error { return m.walk(v, 0) }

func (m *meter) walk(v any, depth int) error {
	if depth > MaxDepth {
		return errDepth
	}
	if err := m.flat(v); err != nil {
		return err
	}
	switch v := v.(type) {
	case nil, bool, string, int, float64:
		return nil
	case []any:
		for _, item := range v {
			if err := m.walk(item, depth+1); err != nil {
				return err
			}
		}
		return nil
	case map[string]any:
		for key, item := range v {
			if err := m.spend(len(key)); err != nil {
				return err
			}
			if err := m.walk(item, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	return m.walkOther(reflect.ValueOf(v), depth)
}

func (m *meter) walkOther(v reflect.Value, depth int) error {
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if err := m.walk(v.Index(i).Interface(), depth+1); err != nil {
				return err
			}
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			for _, part := range []reflect.Value{it.Key(), it.Value()} {
				if err := m.walk(part.Interface(), depth+1); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// scaled charges a string once for every unit of factor, for work that takes more than one unit a
// byte: a regular expression runs over the string for each of its instructions at worst.
func (m *meter) scaled(v any, factor int) error {
	s, ok := v.(string)
	if !ok {
		return fmt.Errorf("this takes a text, not %s", kind(v))
	}
	return m.spend(valueCost + len(s)*factor)
}
