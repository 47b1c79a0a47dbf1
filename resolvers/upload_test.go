package resolvers

import "testing"

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
