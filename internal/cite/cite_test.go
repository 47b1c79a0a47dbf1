package cite

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestReader(t *testing.T) {
	for _, c := range []struct{ name, said, text, sentences string }{
		{"marks before the stop", "It is red [1]. It is big [2][3].", "It is red. It is big.", "It is red.[1] It is big.[2 3]"},
		{"marks behind it", "It is red. [1] It is big.[2]", "It is red. It is big.", "It is red.[1] It is big.[2]"},
		{"several in one", "It is red [1, 3-4].", "It is red.", "It is red.[1 3 4]"},
		{"several in a row", "It is red [1], [2] and [2].", "It is red and.", "It is red and.[1 2]"},
		{"in the middle", "It is red [1] and big [2], too.", "It is red and big, too.", "It is red and big, too.[1 2]"},
		{"none", "It is red. It is big", "It is red. It is big", "It is red.[] It is big[]"},
		{"no marks", "a[i] is [red], [] and [1", "a[i] is [red], [] and [1", "a[i] is [red], [] and [1[]"},
		{"an array", "x[1]y", "xy", "xy[1]"},
		{"a list", "Two things:\n- red [1]\n- big [2]\n", "Two things:\n- red\n- big", "Two things:[] - red[1] - big[2]"},
		{"no spaces", "猫は魚が好きです[1]。犬は[2]。", "猫は魚が好きです。犬は。", "猫は魚が好きです。[1] 犬は。[2]"},
		{"at the beginning", " [2] It is red.", "It is red.", "It is red.[2]"},
		{"what nobody shows", "It\x00 is\r\n\x1bred.", "It is\nred.", "It is\nred.[]"},
		{"too many", "Red [1-999999].", "Red [1-999999].", "Red [1-999999].[]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r Reader
			var said []string
			for _, s := range append(r.Write(c.said), r.Close()...) {
				said = append(said, fmt.Sprint(s.Text, s.Cited))
			}
			if got := strings.Join(said, " "); r.Text() != c.text || got != c.sentences {
				t.Errorf("%q: %s", r.Text(), got)
			}
		})
	}
}

// TestWhatIsToldStays: however a text comes, the same is read, no mark is seen on the way, what has been told only grows, and the places of sentences are theirs.
func TestWhatIsToldStays(t *testing.T) {
	piece := rapid.OneOf(rapid.SampledFrom([]string{
		"It is red", ". ", "\n", "\n\n- ", "1. ", " [1]", "[2, 3]", " [", "]", ",", "。", "日本", "é", "Dr. ", "\t", strings.Repeat("x", 300) + " ",
	}), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		whole := strings.Join(rapid.SliceOfN(piece, 0, 40).Draw(t, "text"), "")
		var once, r Reader
		once.Write(whole)
		once.Close()
		var list []Sentence
		told := ""
		look := func(more []Sentence) {
			if !strings.HasPrefix(r.Text(), told) {
				t.Fatalf("%q was told, now %q", told, r.Text())
			}
			told = r.Text()
			list = append(list, more...)
		}
		for rest := whole; rest != ""; {
			n := rapid.IntRange(1, 20).Draw(t, "bytes")
			for n < len(rest) && !utf8.RuneStart(rest[n]) {
				n++
			}
			n = min(n, len(rest))
			look(r.Write(rest[:n]))
			rest = rest[n:]
		}
		look(r.Close())
		if r.Text() != once.Text() {
			t.Fatalf("%q in pieces, %q at once", r.Text(), once.Text())
		}
		runes, at := []rune(r.Text()), 0
		for _, s := range list {
			if s.Start < at || s.End > len(runes) || string(runes[s.Start:s.End]) != s.Text {
				t.Fatalf("%+v in %q", s, r.Text())
			}
			at = s.End
		}
	})
}
