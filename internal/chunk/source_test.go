package chunk

import (
	"errors"
	"io"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// TestPiecewiseIsTheSame cuts texts that are read in small steps, and whole: the chunks are the same.
func TestPiecewiseIsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit := texts().Draw(t, "text") + "x"
		text := strings.Repeat(unit, 1+rapid.IntRange(20_000, 90_000).Draw(t, "size")/len(unit))
		opts := Options{
			Size:    rapid.IntRange(MinSize, 40).Draw(t, "chunk size"),
			Overlap: rapid.SampledFrom([]float64{0, 0.2, 1}).Draw(t, "overlap"),
			Header:  rapid.SampledFrom([]string{"", "id,name", strings.Repeat("column,", 80)}).Draw(t, "header"),
		}
		samePiecewise(t, text, marksOf(t, text), opts, rapid.IntRange(1, 5000).Draw(t, "step"))
	})
}

// TestPiecewiseWithLongTokens: an overlap may begin within a token that is longer than what is kept of the text.
func TestPiecewiseWithLongTokens(t *testing.T) {
	text := strings.Repeat(strings.Repeat(" ", 200)+"word x", 200)
	for _, overlap := range []float64{0.2, 1} {
		samePiecewise(t, text, nil, Options{Size: MinSize, Overlap: overlap}, 1)
	}
}

// samePiecewise fails unless a text has the same chunks where it is read in steps of some bytes.
func samePiecewise(t rapid.TB, text string, marks []Mark, opts Options, step int) {
	half := func() io.Reader { return iotest.HalfReader(strings.NewReader(text)) }
	whole, err := pieces(half(), marks, opts, len(text)+1)
	if err != nil {
		t.Fatal(err)
	}
	parts, err := pieces(half(), marks, opts, step)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(whole, parts) {
		t.Fatalf("%d chunks of the whole, %d of its parts", len(whole), len(parts))
	}
}

func TestFaultsOfTheSource(t *testing.T) {
	broken := errors.New("the disk is gone")
	opts := Options{Size: 20}
	last := func(text string, marks func(func(Mark, error) bool), fail bool) (err error) {
		r := strings.NewReader(strings.Repeat(text, 400_000/len(text)))
		var chunks func(func(Chunk, error) bool)
		if chunks = All(r, marks, opts); fail {
			chunks = All(iotest.TimeoutReader(r), marks, opts)
		}
		for _, err = range chunks {
		}
		return err
	}
	if err := last("word ", unmarked, true); !errors.Is(err, iotest.ErrTimeout) {
		t.Errorf("of the reader: %v", err)
	}
	late := func(yield func(Mark, error) bool) { _ = yield(Mark{Page: 1}, nil) && yield(Mark{}, broken) }
	if err := last("word ", late, false); !errors.Is(err, broken) {
		t.Errorf("of the marks: %v", err)
	}
	back := func(yield func(Mark, error) bool) { _ = yield(Mark{Offset: 300_000}, nil) && yield(Mark{}, nil) }
	if err := last("word ", back, false); !errors.Is(err, ErrMarks) {
		t.Errorf("of a mark that goes back: %v", err)
	}
}

// endless is a text that never ends.
type endless struct{ n int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = "word. \n"[(e.n+i)%7]
	}
	e.n += len(p)
	return len(p), nil
}

// TestHoldsAPartOfTheText cuts a text of 64 MiB with a row in each line, and looks at what is held.
func TestHoldsAPartOfTheText(t *testing.T) {
	rows := func(yield func(Mark, error) bool) {
		for i := 0; yield(Mark{Offset: 7 * i, Row: i + 1}, nil); i++ {
		}
	}
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	next := 32 << 20
	for c, err := range All(&endless{}, rows, Options{Size: 1000, Overlap: 0.2}) {
		if err != nil {
			t.Fatal(err)
		}
		if c.End > next {
			runtime.GC()
			runtime.ReadMemStats(&now)
			if held := int64(now.HeapAlloc) - int64(before.HeapAlloc); held > 32<<20 {
				t.Errorf("%d bytes are held after %d of text", held, c.End)
			}
			next += 16 << 20
		}
		if c.End > 64<<20 {
			break
		}
	}
}
