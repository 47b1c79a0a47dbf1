package cl100k

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"
	"pgregory.net/rapid"
)

func encoder(t testing.TB) *Encoder {
	t.Helper()
	e, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// tokensOf cuts a text into its tokens.
func tokensOf(e *Encoder, text string) (tokens []string) {
	at := 0
	for _, end := range e.AppendEnds(nil, text, 0) {
		tokens = append(tokens, text[at:end])
		at = end
	}
	return tokens
}

// strays is where the reference is not the encoding: see the package's comment.
var strays = regexp.MustCompile("\x7f|[\r\n][\\s\v\u0085\\p{Z}]*[\t\v\f\u0085\\p{Z}][\\s\v\u0085\\p{Z}]*[\r\n]")

func wantReference(t rapid.TB, e *Encoder, text string) {
	t.Helper()
	if strays.MatchString(text) {
		return
	}
	codec, err := tokenizer.Get(tokenizer.Cl100kBase)
	if err != nil {
		t.Fatal(err)
	}
	_, want, err := codec.Encode(text)
	if err != nil {
		t.Fatal(err)
	}
	if got := tokensOf(e, text); !slices.Equal(got, want) {
		t.Fatalf("%q:\n got %q\nwant %q", text, got, want)
	}
	if n := e.Count(text); n != len(want) {
		t.Fatalf("%q: counted %d tokens of %d", text, n, len(want))
	}
}

func TestLikeTheReference(t *testing.T) {
	e := encoder(t)
	piece := rapid.OneOf(
		rapid.String(),
		rapid.StringMatching(`[a-z]{1,200}`),
		rapid.StringMatching(`[ab]{1,300}`),
		rapid.StringMatching(`[A-Za-z0-9+/]{1,200}`),
		rapid.StringMatching(`[一-龥ぁ-んァ-ン가-힣]{1,60}`),
		rapid.StringMatching(`[!-/:-@=_*]{1,120}`),
		rapid.StringMatching(`( |\t|\n|\r|\v|\x{85}|\x{a0}|\x{2028}|\x{3000}){1,90}`),
		rapid.SampledFrom([]string{"'s", "'LL", "'ve", "'ſ", "it's", " The", "internationalisation", "👩‍👩‍👧‍👦", "e\u0301", "\u0301", "½", "٣٤٥٦"}),
	)
	rapid.Check(t, func(t *rapid.T) {
		wantReference(t, e, strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces"), ""))
	})
	for _, unit := range []string{"a", " ", "!", "=", "文", "ab", "é", "\n", "-", "0", "aA"} {
		wantReference(t, e, strings.Repeat(unit, 3000))
	}
}

func FuzzLikeTheReference(f *testing.F) {
	for _, seed := range []string{"", "Hello, world's  end\n\n", "日本語の文章。", "aaaaaaaaaaaaaaaaaaaaab", "\t \r\n x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if utf8.ValidString(text) {
			wantReference(t, encoder(t), text)
		}
	})
}

// TestVocabulary encodes each token by itself: it is one, and its merge is known.
func TestVocabulary(t *testing.T) {
	e := encoder(t)
	distinct, unmerged := 0, 0
	for _, id := range e.trie.token {
		if id == none {
			continue
		}
		if distinct++; e.lengths[id] > MaxToken {
			t.Errorf("the token %d is longer than %d bytes", id, MaxToken)
		}
		if e.left[id] == id && e.lengths[id] > 1 {
			unmerged++
		}
	}
	if distinct != vocabulary || unmerged > 0 {
		t.Errorf("%d tokens, %d of them come of no merge", distinct, unmerged)
	}
}

// TestPieces holds to the encoding's own pattern where the reference strays from it.
func TestPieces(t *testing.T) {
	for text, want := range map[string][]string{
		"a\n \nb":        {"a", "\n \n", "b"},
		"a \n\n  \n   b": {"a", " \n\n  \n", "  ", " b"},
		"\n\u00a0\nb":    {"\n\u00a0\n", "b"},
		"a\x7fb":         {"a", "\x7fb"},
		"x \x7f\x7f y":   {"x", " \x7f\x7f", " y"},
	} {
		var got []string
		for at := 0; at < len(text); {
			end := pieceEnd(text, at)
			got = append(got, text[at:end])
			at = end
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func BenchmarkCount(b *testing.B) {
	e := encoder(b)
	for name, unit := range map[string]string{
		"prose": "The boundary layer on a flat plate grows with the square root of the distance. ", "letter": "a", "space": " ",
		"Japanese": "境界層は平板の前縁からの距離の平方根に比例して成長する。", "word": "qzjxkvbwpyfghmuclr",
	} {
		text := strings.Repeat(unit, 1<<20/len(unit))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				e.Count(text)
			}
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := load(); err != nil {
			b.Fatal(err)
		}
	}
}
