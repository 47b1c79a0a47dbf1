package chunk

import (
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// split gives all chunks of a text at once; none for a text of white space alone.
func split(text string, marks []Mark, opts Options) ([]Chunk, error) {
	chunks, err := pieces(strings.NewReader(text), marks, opts, step)
	if !slices.ContainsFunc(chunks, func(c Chunk) bool { return !c.Blank() }) {
		return nil, err
	}
	return chunks, err
}

// pieces gives all chunks of a text that is read in steps of some bytes.
func pieces(text io.Reader, marks []Mark, opts Options, step int) (chunks []Chunk, err error) {
	each := func(yield func(Mark, error) bool) {
		for _, m := range marks {
			if !yield(m, nil) {
				return
			}
		}
	}
	for c, err := range all(text, each, opts, step) {
		if err != nil {
			return nil, err
		}
		chunks = append(chunks, c)
	}
	return chunks, nil
}

// texts draws texts of pieces that stress the tokenizer and the borders.
func texts() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{
			"The lift of a wing. ", "word ", " ", "  ", "\n", "\n\n", "\r\n", "\t", "\f", "it's ", "!!!", "...", "# Heading\n",
			"a,\"b\nc\",d\n", "```\n", "日本語の文章です。", "「はい。」", "한국어 ", "👩‍👩‍👧‍👦", "e\u0301", "🇩🇪", "\u00a0", "\u3000", "\x7f",
			"1234567", "x", "https://example.com/a?b=c&d=e ", "\"Yes.\" ", strings.Repeat("a", 300), strings.Repeat(" ", 200),
		}),
		rapid.String(),
	)
	return rapid.Map(rapid.SliceOfN(piece, 0, 120), func(p []string) string { return strings.Join(p, "") })
}

func marksOf(t *rapid.T, text string) []Mark {
	var marks []Mark
	offset := 0
	for range rapid.IntRange(0, 6).Draw(t, "marks") {
		offset = rapid.IntRange(offset, len(text)).Draw(t, "offset")
		marks = append(marks, Mark{
			Offset:  offset,
			Page:    rapid.IntRange(0, 3).Draw(t, "page"),
			Heading: rapid.SampledFrom([]string{"", "A", "B"}).Draw(t, "heading"),
			Row:     rapid.IntRange(0, 3).Draw(t, "row"),
		})
	}
	return marks
}

func TestSplitProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := texts().Draw(t, "text")
		opts := Options{
			Size:    rapid.IntRange(MinSize, 120).Draw(t, "size"),
			Overlap: rapid.SampledFrom([]float64{0, 0.1, 0.2, 0.5, 0.9, 1}).Draw(t, "overlap"),
			Header:  rapid.SampledFrom([]string{"", "id,name", "a,\"b\nc\",d\n", strings.Repeat("column,", 80)}).Draw(t, "header"),
		}
		if rapid.Bool().Draw(t, "native") {
			text = opts.Header + text
		}
		checkChunks(t, text, marksOf(t, text), opts)
	})
}

// checkChunks holds for every text: what the package promises of its chunks.
func checkChunks(t rapid.TB, text string, marks []Mark, opts Options) {
	t.Helper()
	chunks, err := split(text, marks, opts)
	if err != nil {
		t.Fatalf("split: %v", err)
	}
	if strings.TrimSpace(text) == "" {
		if len(chunks) != 0 {
			t.Fatalf("%d chunks of white space", len(chunks))
		}
		return
	}
	var own strings.Builder
	for i, c := range chunks {
		if c.Start != own.Len() || c.End <= c.Start || c.Content[c.OverlapBytes:] != text[c.Start:c.End] {
			t.Fatalf("chunk %d: own part is %q, at %d to %d", i, c.Content[c.OverlapBytes:], c.Start, c.End)
		}
		own.WriteString(c.Content[c.OverlapBytes:])
		if !utf8.ValidString(c.Content) || !utf8.ValidString(c.Content[c.OverlapBytes:]) {
			t.Fatalf("chunk %d: cut within a rune", i)
		}
		n, err := Count(c.Content)
		if err != nil || n != c.Tokens || n > opts.Size {
			t.Fatalf("chunk %d has %d tokens, says %d, of at most %d (%v): %q", i, n, c.Tokens, opts.Size, err, c.Content)
		}
		if most := opts.Size*tokenRoom + len(opts.Header) + 1; len(c.Content) > most {
			t.Fatalf("chunk %d has %d bytes, of at most %d", i, len(c.Content), most)
		}
		if i == 0 && opts.Header == "" && c.OverlapBytes != 0 {
			t.Fatalf("the first chunk overlaps by %d bytes", c.OverlapBytes)
		}
	}
	if own.String() != text {
		t.Fatalf("the chunks without overlaps are not the text")
	}
	checkPlaces(t, text, marks, chunks)
}

// checkPlaces looks up where each character of the text belongs, in the marks and in the places of its chunk.
func checkPlaces(t rapid.TB, text string, marks []Mark, chunks []Chunk) {
	t.Helper()
	next, k, now := 0, 0, Place{}
	for at := range text {
		for ; next < len(marks) && runeStart(text, marks[next].Offset) <= at; next++ {
			m := marks[next]
			if m.Row > 0 {
				now.Row = m.Row
			}
			if m.Row == 0 || m.Page > 0 || m.Heading != "" {
				now.Page, now.Heading = m.Page, m.Heading
			}
		}
		for chunks[k].End <= at {
			k++
		}
		c := chunks[k]
		var got Place
		for _, p := range UnpackPlaces(PackPlaces(c.Places)) {
			if p.Offset <= c.OverlapBytes+at-c.Start {
				got = p
			}
		}
		got.Offset, got.Heading = 0, got.Heading[strings.LastIndex(got.Heading, PathMark)+1:]
		if got.Heading = strings.TrimPrefix(got.Heading, PathMark[1:]); got != now {
			t.Fatalf("byte %d belongs to %+v, by its chunk to %+v of %+v", at, now, got, c.Places)
		}
	}
}

func TestPathsOfHeadings(t *testing.T) {
	text := strings.Repeat("word ", 60)
	marks := []Mark{
		{Offset: 0, Heading: "A", Level: 1},
		{Offset: 25, Heading: "B", Level: 2},
		{Offset: 50, Heading: "C", Level: 4},
		{Offset: 75, Heading: "C", Level: 4, Page: 2},
		{Offset: 100, Heading: "D", Level: 3},
		{Offset: 125, Heading: "E", Level: 1},
		{Offset: 150},
		{Offset: 175, Heading: "F", Level: 3},
		{Offset: 200, Row: 7},
	}
	chunks, err := split(text, marks, Options{Size: 1000})
	if err != nil || len(chunks) != 1 {
		t.Fatal(chunks, err)
	}
	want := []Place{
		{0, 0, "A", 0},
		{25, 0, "A > B", 0},
		{50, 0, "A > B > C", 0},
		{75, 2, "A > B > C", 0},
		{100, 0, "A > B > D", 0},
		{125, 0, "E", 0},
		{150, 0, "", 0},
		{175, 0, "F", 0},
		{200, 0, "F", 7},
	}
	if !slices.Equal(chunks[0].Places, want) {
		t.Errorf("%+v", chunks[0].Places)
	}
}

func TestTitled(t *testing.T) {
	long := strings.Repeat("x", maxAbove)
	for _, c := range []struct{ name, path, content, want string }{
		{"below headings", "Staff > Leave", "Ask early.", "Staff\nLeave\nAsk early."},
		{"has one itself", "Staff > Leave", "## Leave\n\nAsk early.", "Staff\n## Leave\n\nAsk early."},
		{"has none", "", "Ask early.", "Ask early."},
		{"a heading without end", long + "y > Leave", "Ask early.", "Leave\nAsk early."},
	} {
		chunk := Chunk{Content: c.content, Places: []Place{{Heading: c.path}, {Offset: 5, Heading: "Other"}}}
		if got := chunk.Titled(); got != c.want {
			t.Errorf("%s: %q", c.name, got)
		}
	}
	if got := (Chunk{Content: "Ask early."}).Titled(); got != "Ask early." {
		t.Errorf("no places: %q", got)
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("A sentence. Another one.\n\n# Heading\ntext", uint16(20), 0.2, "h")
	f.Add("a,b\n\"x\ny\",2\n", uint16(16), 1.0, "a,b")
	f.Add("\u65e5\u672c\u8a9e\u3002\U0001f468\u200d\U0001f469", uint16(16), 0.5, "")
	f.Fuzz(func(t *testing.T, text string, size uint16, overlap float64, header string) {
		opts := Options{Size: int(size), Overlap: overlap, Header: header}
		if check(opts) != nil || !utf8.ValidString(text) {
			t.Skip("refused before anything is cut")
		}
		checkChunks(t, text, nil, opts)
	})
}

func TestCutsAtTheStrongestBorder(t *testing.T) {
	filler := func(words int) string { return strings.TrimSpace(strings.Repeat("word ", words)) }
	tests := []struct {
		name   string
		before string // what the first chunk must be
		after  string
		marks  func(at int) []Mark
	}{
		{
			name: "page over paragraph", before: filler(24), after: " " + filler(3) + "\n\n" + filler(30),
			marks: func(at int) []Mark { return []Mark{{Offset: 0, Page: 1}, {Offset: at, Page: 2}} },
		},
		{
			name: "heading over paragraph", before: filler(24) + "\n", after: "# Title\n\n" + filler(30),
			marks: func(at int) []Mark { return []Mark{{Offset: at, Heading: "Title"}} },
		},
		{name: "paragraph over sentence", before: filler(24) + ".\n\n", after: filler(5) + ". Then " + filler(30)},
		{name: "sentence over line", before: filler(24) + ". ", after: "Then " + filler(5) + "\n" + filler(30)},
		{name: "sentence at a line's end", before: filler(24) + ".\n", after: filler(5) + "\n" + filler(30)},
		{name: "sentence in quotes", before: filler(24) + ".\" ", after: "Then " + filler(30)},
		{name: "abbreviation is no sentence", before: filler(22) + " e.g. word\n", after: filler(30)},
		{name: "line over space", before: filler(24) + "\n", after: filler(30)},
		{name: "ideographic sentence", before: strings.Repeat("文", 24) + "。」", after: strings.Repeat("文", 40)},
		{name: "CRLF paragraph", before: filler(24) + "\r\n\r\n", after: filler(5) + "\r\n" + filler(30)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var marks []Mark
			if tt.marks != nil {
				marks = tt.marks(len(tt.before))
			}
			chunks, err := split(tt.before+tt.after, marks, Options{Size: 36})
			if err != nil {
				t.Fatal(err)
			}
			if chunks[0].Content != tt.before {
				t.Errorf("first chunk is %q, want %q", chunks[0].Content, tt.before)
			}
		})
	}
}

func TestHardCutKeepsGraphemes(t *testing.T) {
	family := "👩‍👩‍👧‍👦"
	chunks, err := split(strings.Repeat(family, 20), nil, Options{Size: 40, Overlap: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range chunks {
		if len(c.Content)%len(family) != 0 || !strings.HasPrefix(c.Content, family) {
			t.Errorf("chunk %d cuts a family: %q", i, c.Content)
		}
	}
}

func TestOverlap(t *testing.T) {
	sentence := "The boundary layer on a flat plate grows with the square root of the distance. "
	text := strings.Repeat(sentence, 40)
	tests := []struct {
		name     string
		overlap  float64
		from, to float64 // bounds of the mean overlap, as a part of the size
	}{
		{"none", 0, 0, 0},
		{"fifth", 0.2, 0.1, 0.2},
		{"half", 0.5, 0.25, 0.5},
		{"whole is clamped", 1, 0.4, maxOverlap},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			const size = 200
			chunks, err := split(text, nil, Options{Size: size, Overlap: tt.overlap})
			if err != nil {
				t.Fatal(err)
			}
			total := 0
			for _, c := range chunks[1:] {
				if !strings.HasPrefix(c.Content, "The") {
					t.Errorf("overlap begins at %q", c.Content[:20])
				}
				n, _ := Count(c.Content[:c.OverlapBytes])
				total += n
			}
			if mean := float64(total) / float64(len(chunks)-1) / size; mean < tt.from || mean > tt.to {
				t.Errorf("mean overlap %.2f of the size, want %.2f to %.2f", mean, tt.from, tt.to)
			}
		})
	}
}

func TestRows(t *testing.T) {
	header := "id,name,remark\n"
	row := "1,Anne,\"two\nlines with a \"\"quote\"\"\"\n"
	text := header + strings.Repeat(row, 30)
	marks := []Mark{{Row: 1}}
	for i := range 30 {
		marks = append(marks, Mark{Offset: len(header) + i*len(row), Row: i + 2})
	}
	chunks, err := split(text, marks, Options{Size: 64, Overlap: 0.3, Header: "id,name,remark"})
	if err != nil {
		t.Fatal(err)
	}
	if len(chunks) < 5 {
		t.Fatalf("%d chunks", len(chunks))
	}
	for i, c := range chunks {
		if strings.Count(c.Content, header) != 1 || !strings.HasPrefix(c.Content, header) {
			t.Errorf("chunk %d: header missing or twice: %q", i, c.Content)
		}
		if rest := strings.ReplaceAll(strings.TrimPrefix(c.Content, header), row, ""); rest != "" {
			t.Errorf("chunk %d is not made of whole rows: %q", i, c.Content)
		}
		if want := (c.Start-len(header))/len(row) + 2; c.Start > 0 && c.Row != want {
			t.Errorf("chunk %d begins at row %d, want %d", i, c.Row, want)
		}
	}
}

func TestHeaderThatTheTextLacksIsAdded(t *testing.T) {
	for name, text := range map[string]string{"other text": "1,x\n2,y\n", "longer first word": "a,bc\n1,x\n"} {
		t.Run(name, func(t *testing.T) {
			chunks, err := split(strings.Repeat(text, 20), nil, Options{Size: 32, Header: "a,b"})
			if err != nil {
				t.Fatal(err)
			}
			for i, c := range chunks {
				if !strings.HasPrefix(c.Content, "a,b\n") {
					t.Errorf("chunk %d lacks the header: %q", i, c.Content)
				}
			}
		})
	}
}

func TestRowLongerThanAChunkIsSplit(t *testing.T) {
	text := "a,b\n1," + strings.Repeat("long ", 200) + "\n2,short\n"
	chunks, err := split(text, nil, Options{Size: 50, Header: "a,b"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range chunks[1:] {
		if !strings.HasPrefix(c.Content, "a,b\n") || c.OverlapBytes != len("a,b\n") {
			t.Errorf("chunk %q lacks the header", c.Content)
		}
	}
	if last := chunks[len(chunks)-1]; !strings.Contains(last.Content, "2,short") {
		t.Errorf("last chunk %q", last.Content)
	}
}

func TestPlaces(t *testing.T) {
	text := "intro text\n\nbody of the first page " + strings.Repeat("and more ", 10) + "\n\nbody of the second page\n"
	second := strings.Index(text, "\nbody of the second")
	marks := []Mark{{Page: 1}, {Offset: 12, Page: 1, Heading: "Body"}, {Offset: second, Page: 2, Heading: "Body"}}
	chunks, err := split(text, marks, Options{Size: MinSize})
	if err != nil {
		t.Fatal(err)
	}
	first, last := chunks[0], chunks[len(chunks)-1]
	if first.Page != 1 || first.Heading != "" {
		t.Errorf("first chunk: page %d, heading %q", first.Page, first.Heading)
	}
	if last.Page != 2 || last.Heading != "Body" {
		t.Errorf("last chunk %q: page %d, heading %q", last.Content, last.Page, last.Heading)
	}
}

func TestRefused(t *testing.T) {
	tests := []struct {
		name  string
		text  string
		marks []Mark
		opts  Options
		want  error
	}{
		{"size", "x", nil, Options{Size: MinSize - 1}, ErrOptions},
		{"overlap below", "x", nil, Options{Size: 20, Overlap: -0.1}, ErrOptions},
		{"overlap above", "x", nil, Options{Size: 20, Overlap: 1.1}, ErrOptions},
		{"overlap NaN", "x", nil, Options{Size: 20, Overlap: math.NaN()}, ErrOptions},
		{"text", "x\xff", nil, Options{Size: 20}, ErrUTF8},
		{"header", "x", nil, Options{Size: 20, Header: "\xff"}, ErrUTF8},
		{"mark order", "xyz", []Mark{{Offset: 2}, {Offset: 1}}, Options{Size: 20}, ErrMarks},
		{"cut in a character", "x\xe6\x96", nil, Options{Size: 20}, ErrUTF8},
		{"mark outside", "xyz", []Mark{{Offset: 4}}, Options{Size: 20}, ErrMarks},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := split(tt.text, tt.marks, tt.opts); !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
		})
	}
}

// unmarked is the marks of a text that has none.
func unmarked(func(Mark, error) bool) {}

func TestHostileTextsAreLinear(t *testing.T) {
	const small, factor = 32 << 10, 8
	took := func(unit string, size int) time.Duration {
		text := strings.Repeat(unit, size/len(unit)) + "end"
		began := time.Now()
		n := 0
		for c, err := range All(strings.NewReader(text), unmarked, Options{Size: 1000, Overlap: 0.2}) {
			if err != nil {
				t.Fatal(err)
			}
			n += c.End - c.Start
		}
		if n != len(text) {
			t.Errorf("%d of %d bytes", n, len(text))
		}
		return time.Since(began)
	}
	for name, unit := range map[string]string{
		"letter": "a", "space": " ", "newline": "\n", "digit": "1", "ideograph": "文", "emoji": "👩‍👧", "mark": "e\u0301", "quote": "\"",
	} {
		t.Run(name, func(t *testing.T) {
			const noise = 50 * time.Millisecond
			few := took(unit, small)
			if many := took(unit, factor*small); many > 3*factor*(few+noise) { // quadratic: factor*factor*few
				t.Errorf("%d bytes took %v, %d times as much %v", small, few, factor, many)
			}
		})
	}
}

// TestLongTokens: a text of few tokens has chunks of a bounded length, which together are no longer than those of others.
func TestLongTokens(t *testing.T) {
	text := strings.Repeat("pelican"+strings.Repeat(" ", 4000), 100)
	for _, overlap := range []float64{0, 0.5, 1} {
		opts, bytes := Options{Size: 1024, Overlap: overlap}, 0
		checkChunks(t, text, nil, opts)
		chunks, err := split(text, nil, opts)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range chunks {
			bytes += len(c.Content)
		}
		if bytes > 16*len(text) {
			t.Errorf("overlap %v: %d bytes in %d chunks of %d", overlap, bytes, len(chunks), len(text))
		}
	}
}

func BenchmarkSplit(b *testing.B) {
	prose := strings.Repeat("The boundary layer on a flat plate grows with the square root of the distance from its leading edge. "+
		"An experimental study of a wing in a propeller slipstream was made,\nto determine the spanwise distribution of lift.\n\n", 10000)
	for name, text := range map[string]string{
		"prose":    prose,
		"noSpaces": strings.Repeat("a", 1<<20),
		"Japanese": strings.Repeat("境界層は平板の前縁からの距離の平方根に比例して成長する。", 10000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				for _, err := range All(strings.NewReader(text), unmarked, Options{Size: 1000, Overlap: 0.2}) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
