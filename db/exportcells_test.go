package db

import (
	"slices"
	"testing"
)

// TestWhatACellExports: of what an export holds a cell lacks what docs/export.md says, and the home lacks nothing.
func TestWhatACellExports(t *testing.T) {
	for _, c := range []struct {
		store *Store
		want  []string
	}{{&Store{}, nil}, {&Store{cell: &Cell{Number: 2, Region: "eu-central"}}, []string{"billing"}}} {
		var lacked []string
		var walk func([]ExportKind)
		walk = func(kinds []ExportKind) {
			for _, k := range kinds {
				if c.store.Lacks(k) {
					lacked = append(lacked, k.Name)
				}
				walk(k.Below)
			}
		}
		walk(ExportKinds)
		if !slices.Equal(lacked, c.want) {
			t.Errorf("%+v lacks %v", c.store.cell, lacked)
		}
	}
}
