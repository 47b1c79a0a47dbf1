package db

import (
	"reflect"
	"testing"
)

// TestWhatIsOrderedAlreadyDecidesNothing: a field that stands for a key that came before adds no other, so that the index of the
// shorter order serves, and the id behind goes the way of the last key that counts.
func TestWhatIsOrderedAlreadyDecidesNothing(t *testing.T) {
	for long, short := range map[string]string{
		"CREATED_AT,ID":   "CREATED_AT",
		"-CREATED_AT,ID":  "-CREATED_AT",
		"-ID,-CREATED_AT": "-CREATED_AT",
	} {
		if got, want := AuditEvents.keys(long), AuditEvents.keys(short); !reflect.DeepEqual(names(got), names(want)) {
			t.Errorf("the keys of %s are %v, those of %s %v", long, names(got), short, names(want))
		}
	}
}

func names(keys []sortedKey) (list []string) {
	for _, k := range keys {
		if k.down {
			list = append(list, "-"+k.by)
		} else {
			list = append(list, k.by)
		}
	}
	return list
}
