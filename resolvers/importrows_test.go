package resolvers

import (
	"testing"

	"canopy/db"
)

// TestExportedKindsAreImported: each kind of an archive is read in, or left out for a reason. An archive that has rows of
// another one would be refused.
func TestExportedKindsAreImported(t *testing.T) {
	exported := map[string]bool{}
	var walk func([]db.ExportKind)
	walk = func(kinds []db.ExportKind) {
		for _, k := range kinds {
			exported[k.Name] = true
			if (importedRows[k.Name] == nil) == (notImported[k.Name] == "") {
				t.Errorf("the exported kind %s has to stand in importedRows, or in notImported with a reason", k.Name)
			}
			walk(k.Below)
		}
	}
	walk(db.ExportKinds)
	for kind := range importedKinds() {
		if !exported[kind] {
			t.Errorf("%s is no kind that is exported", kind)
		}
	}
}
