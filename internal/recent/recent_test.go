package recent

import (
	"testing"

	"pgregory.net/rapid"
)

// TestKeysAreTexts tries that texts have the same key only where they are the same: those of few letters, whose ends look alike.
func TestKeysAreTexts(t *testing.T) {
	text := rapid.StringOfN(rapid.SampledFrom([]rune("ab\x00é")), 0, 16, -1)
	rapid.Check(t, func(t *rapid.T) {
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		keyA, fits := KeyOf(a)
		if fits != (len(a) <= LongestKey) {
			t.Fatalf("%q of %d bytes fits: %v", a, len(a), fits)
		}
		if keyB, ok := KeyOf(b); fits && ok && (keyA == keyB) != (a == b) {
			t.Fatalf("%q and %q", a, b)
		}
	})
}

// TestEveryByteCounts changes each byte of texts of each length.
func TestEveryByteCounts(t *testing.T) {
	for n := range LongestKey + 1 {
		text := make([]byte, n)
		whole, _ := KeyOf(string(text))
		for i := range text {
			text[i] = 1
			if other, _ := KeyOf(string(text)); other == whole {
				t.Errorf("byte %d of %d does not count", i, n)
			}
			text[i] = 0
		}
	}
}

// TestValuesBelongToTheirKeys fills a table with many more keys than it has places.
func TestValuesBelongToTheirKeys(t *testing.T) {
	var table Table[string]
	found := 0
	for range 2 {
		for a := range 200 {
			for b := range 100 {
				text := string([]byte{byte(a), byte(b), 'x'})
				key, _ := KeyOf(text)
				value, ok := table.Find(key)
				if ok && *value != text {
					t.Fatalf("%q has the value of %q", text, *value)
				}
				*value = text
				if again, ok := table.Find(key); !ok || *again != text {
					t.Fatalf("%q is forgotten at once", text)
				}
			}
			key, _ := KeyOf("always")
			if value, ok := table.Find(key); ok && *value == "always" {
				found++
			} else {
				*value = "always"
			}
		}
	}
	if found == 0 {
		t.Error("nothing is found again")
	}
}
