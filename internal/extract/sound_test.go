package extract

import (
	"bytes"
	"testing"
	"unicode/utf8"
)

// wantSound checks what Result promises of every document.
func wantSound(t testing.TB, r *Result) {
	t.Helper()
	if !utf8.ValidString(r.Text) {
		t.Error("the text is not valid UTF-8")
	}
	last := -1
	for i, m := range r.Marks {
		if m.Offset <= last || m.Offset > len(r.Text) {
			t.Fatalf("mark %d of %d is at %d after %d, the text ends at %d", i, len(r.Marks), m.Offset, last, len(r.Text))
		}
		if len(m.Heading) > maxHeading {
			t.Fatalf("heading of %d bytes", len(m.Heading))
		}
		last = m.Offset
	}
}

// wantClean also checks the characters, for text that came out of a reader, and that the parent takes it from a child.
func wantClean(t testing.TB, r *Result) {
	t.Helper()
	wantSound(t, r)
	if r.Text != clean(r.Text) {
		t.Errorf("the text is not clean: %q", r.Text)
	}
	for i, m := range r.Marks {
		if m.Offset < len(r.Text) && !utf8.RuneStart(r.Text[m.Offset]) {
			t.Errorf("mark %d stands inside a rune", i)
		}
	}
	var wire bytes.Buffer
	if err := writeAnswer(&wire, childAnswer{result: r}, nil); err != nil {
		t.Fatal(err)
	}
	taken, err := readAnswer(&wire, Limits{}.withDefaults())
	if err != nil {
		t.Fatal(err)
	}
	wantSameResult(t, whole(t, taken), r)
}

// markAt is the mark in force at a place of the text.
func markAt(r *Result, offset int) (m Mark) {
	for _, next := range r.Marks {
		if next.Offset > offset {
			break
		}
		m = next
	}
	return m
}
