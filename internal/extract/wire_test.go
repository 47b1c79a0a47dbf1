package extract

import (
	"bytes"
	"errors"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func wantSameResult(t rapid.TB, got, want *Result) {
	t.Helper()
	if got.Text != want.Text || got.Header != want.Header || got.Pages != want.Pages || got.SkippedPages != want.SkippedPages {
		t.Fatalf("got %+v, want %+v", got, want)
	}
	if len(got.Marks) != len(want.Marks) || len(want.Marks) > 0 && !reflect.DeepEqual(got.Marks, want.Marks) {
		t.Fatalf("marks %+v, want %+v", got.Marks, want.Marks)
	}
}

// whole reads a document back into memory, and lets go of it.
func whole(t rapid.TB, d *Document) *Result {
	t.Helper()
	r := &Result{Header: d.Header, Pages: d.Pages, SkippedPages: d.SkippedPages}
	text, err := io.ReadAll(d.Text())
	if err != nil || len(text) != d.Size {
		t.Fatalf("%d bytes of %d: %v", len(text), d.Size, err)
	}
	r.Text = string(text)
	for m, err := range d.Marks() {
		if err != nil {
			t.Fatal(err)
		}
		r.Marks = append(r.Marks, m)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	return r
}

func genResult(t *rapid.T) *Result {
	text := rapid.StringN(1, 400, -1).Draw(t, "text")
	r := &Result{Text: strings.ToValidUTF8(text, "?"), Pages: rapid.IntRange(0, 100).Draw(t, "pages")}
	at := rapid.IntRange(0, 5).Draw(t, "first")
	for at < len(r.Text) {
		m := Mark{Offset: at, Page: rapid.IntRange(0, 100).Draw(t, "page"), Row: rapid.IntRange(0, maxRow).Draw(t, "row")}
		if rapid.Bool().Draw(t, "headed") {
			m.Level = rapid.IntRange(0, maxLevel).Draw(t, "level")
			m.Heading = strings.ToValidUTF8(rapid.StringN(0, -1, maxHeading).Draw(t, "heading"), "?")
		}
		r.Marks = append(r.Marks, m)
		at += rapid.IntRange(1, 50).Draw(t, "step")
	}
	return r
}

func TestAnswerRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := genResult(t)
		var wire bytes.Buffer
		if err := writeAnswer(&wire, childAnswer{result: want}, nil); err != nil {
			t.Fatal(err)
		}
		got, err := readAnswer(&wire, Limits{}.withDefaults())
		if err != nil {
			t.Fatalf("%v for %+v", err, want)
		}
		wantSameResult(t, whole(t, got), want)
	})
}

// TestLongAnswer sends a text of characters that no buffer ends with.
func TestLongAnswer(t *testing.T) {
	want := &Result{Text: "x" + strings.Repeat("文", 100_000), Marks: []Mark{{Offset: 1, Page: 1}, {Offset: 30_001, Row: 2, Heading: "文"}}, Pages: 1}
	var wire bytes.Buffer
	if err := writeAnswer(&wire, childAnswer{result: want}, nil); err != nil {
		t.Fatal(err)
	}
	sent := wire.Bytes()
	got, err := readAnswer(bytes.NewReader(sent), Limits{}.withDefaults())
	if err != nil {
		t.Fatal(err)
	}
	wantSameResult(t, whole(t, got), want)
	sent[100_000] = 0xFF
	if _, err := readAnswer(bytes.NewReader(sent), Limits{}.withDefaults()); !errors.Is(err, errProtocol) {
		t.Errorf("a text that is not UTF-8: %v", err)
	}
}

// TestNothingIsLeft looks for temporary files after good answers and bad ones.
func TestNothingIsLeft(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	var wire bytes.Buffer
	if err := writeAnswer(&wire, childAnswer{result: &Result{Text: "text"}}, nil); err != nil {
		t.Fatal(err)
	}
	for _, sent := range [][]byte{wire.Bytes(), wire.Bytes()[:8]} {
		if d, err := readAnswer(bytes.NewReader(sent), Limits{}.withDefaults()); err == nil {
			whole(t, d)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}

func TestAnswerOverTheLimit(t *testing.T) {
	var wire bytes.Buffer
	if err := writeAnswer(&wire, childAnswer{result: &Result{Text: "four"}}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := readAnswer(&wire, Limits{Text: 3}.withDefaults()); !errors.Is(err, errProtocol) {
		t.Errorf("error = %v", err)
	}
}

// TestHeadingsOverTheLimit: a child can't have the parent keep the longest headings at every place of a long text.
func TestHeadingsOverTheLimit(t *testing.T) {
	most := maxOutside / (maxHeading - 1) // bytes of a text that has a heading at each
	for size, want := range map[int]error{most: nil, most + 1: errProtocol} {
		r := &Result{Text: strings.Repeat("x", size)}
		for i := range r.Text {
			r.Marks = append(r.Marks, Mark{Offset: i, Heading: strings.Repeat(string("ab"[i%2]), maxHeading)})
		}
		var wire bytes.Buffer
		if err := writeAnswer(&wire, childAnswer{result: r}, nil); err != nil {
			t.Fatal(err)
		}
		got, err := readAnswer(&wire, Limits{}.withDefaults())
		if !errors.Is(err, want) {
			t.Errorf("%d headings: %v", size, err)
		}
		if err == nil {
			wantSameResult(t, whole(t, got), r)
		}
	}
}

func TestAnswerErrors(t *testing.T) {
	for _, want := range []error{failDamaged, failTimeout} {
		var wire bytes.Buffer
		if err := writeAnswer(&wire, childAnswer{}, want); err != nil {
			t.Fatal(err)
		}
		if _, err := readAnswer(&wire, Limits{}.withDefaults()); !errors.Is(err, want) {
			t.Errorf("error = %v, want %v", err, want)
		}
	}
	var wire bytes.Buffer
	if err := writeAnswer(&wire, childAnswer{}, errors.New("disk on fire")); err != nil {
		t.Fatal(err)
	}
	if _, err := readAnswer(&wire, Limits{}.withDefaults()); err == nil || isFailure(err) || !strings.Contains(err.Error(), "disk on fire") {
		t.Errorf("error = %v", err)
	}
}

// FuzzAnswer feeds the parent what a child that was taken over might say.
func FuzzAnswer(f *testing.F) {
	for _, r := range []*Result{{}, {Text: "ab", Marks: []Mark{{Offset: 1, Page: 2, Heading: "b"}}, Pages: 2}} {
		var wire bytes.Buffer
		if err := writeAnswer(&wire, childAnswer{result: r}, nil); err != nil {
			f.Fatal(err)
		}
		f.Add(wire.Bytes())
	}
	f.Add([]byte("F\x02{}"))
	f.Fuzz(func(t *testing.T, wire []byte) {
		got, err := readAnswer(bytes.NewReader(wire), Limits{Text: 1 << 16}.withDefaults())
		if err == nil {
			wantSound(t, whole(t, got))
		}
	})
}
