package db

import (
	"slices"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"canopy/internal/devstack/devtest"
	"canopy/internal/words"
)

// TestWordsAreThoseOfNames: a text is taken apart as the index takes names apart, whatever they are written in.
func TestWordsAreThoseOfNames(t *testing.T) {
	pool := devtest.Must[*sqlx.DB](t)(Connect(devtest.Database(t, Fingerprint(), Migrate), Options{MaxConns: 1}))
	t.Cleanup(func() { _ = pool.Close() })
	texts := []string{"Müller & Söhne GmbH", "ÅLAND/İzmir O'Brien", "ΑΘΗΝΑ Москва Ґанок", "東京 株式会社", "ﬁne № ½ ™", "anna.smith+x@acme.example", strings.Repeat("Long", 50), " - ", "\u1e9e\u0130\u01c5"}
	for _, letters := range []struct{ from, to rune }{{0x20, 0x24f}, {0x370, 0x52f}, {0x1e00, 0x20cf}, {0x3000, 0x30ff}} {
		for at := letters.from; at < letters.to; at += 16 {
			var b strings.Builder
			for r := at; r < min(at+16, letters.to); r++ {
				b.WriteRune('x')
				b.WriteRune(r)
			}
			texts = append(texts, b.String())
		}
	}
	for _, text := range texts {
		var folded string
		var said pq.StringArray
		devtest.Check(t, pool.QueryRowxContext(t.Context(), `SELECT folded($1), tsvector_to_array(words_of($1))`, text).Scan(&folded, &said))
		want := words.Of(text)
		slices.Sort(want)
		if got := slices.Sorted(slices.Values(said)); !slices.Equal(got, slices.Compact(want)) || folded != words.Folded(text) {
			t.Errorf("%q: %q of %q, want %q of %q", text, got, folded, want, words.Folded(text))
		}
	}
}
