package resolvers

import (
	"strings"
	"testing"
)

func TestFileName(t *testing.T) {
	for sent, want := range map[string]string{
		"a.txt": "a.txt", `C:\notes\a.txt`: "a.txt", "../a.txt": "a.txt", " a.txt ": "a.txt",
		"a\x07b.md": "ab.md", "a\u202etxt.exe": "atxt.exe", "a\xff.txt": "a\ufffd.txt",
	} {
		if got := fileName(sent); got != want {
			t.Errorf("%q is kept as %q, want %q", sent, got, want)
		}
	}
}

// TestDisplayName: documents of equal names are told apart, by names that could be given.
func TestDisplayName(t *testing.T) {
	long := strings.Repeat("ä", maxName-4) + ".txt"
	for _, c := range []struct {
		name  string
		index int
		want  string
	}{
		{"a.txt", 0, "a.txt"},
		{"a.txt", 2, "a (2).txt"},
		{"a.b.txt", 1, "a.b (1).txt"},
		{"a", 1, "a (1)"},
		{long, 0, long},
		{long, 1, strings.Repeat("ä", maxName-8) + " (1).txt"},
		{long, 1000, strings.Repeat("ä", maxName-11) + " (1000).txt"},
	} {
		if got := displayName(c.name, c.index); got != c.want {
			t.Errorf("%q, %d: %q", c.name, c.index, got)
		}
	}
	if old := strings.Repeat("ä", maxName-4) + " (1).txt"; !isOwnName(old, long, 1) || !isOwnName(displayName(long, 1), long, 1) || isOwnName(long, long, 1) || isOwnName("a (0).txt", "a.txt", 0) {
		t.Error("a document's own name is not known")
	}
}
