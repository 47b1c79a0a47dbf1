package devstack

import "testing"

// TestFreeAddresses: none is given twice, as happens among so many that are asked for one after the other.
func TestFreeAddresses(t *testing.T) {
	list, err := FreeAddresses(500)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, address := range list {
		seen[address] = true
	}
	if len(seen) != 500 {
		t.Errorf("%d addresses differ", len(seen))
	}
}
