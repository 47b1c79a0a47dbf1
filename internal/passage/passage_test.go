package passage

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

const handbook = `4.2 Vacation

Everybody has 28 days of vacation a year. Those who join later have a twelfth of it for each month. Days that are left over
end on 31 March of the next year, unless Dr. Weber of the staff office has agreed to something else.

4.3 Illness

Who is ill tells the office before 9:00. From the third day on a doctor's note is needed.

- Café: open from 7:30
- Parking: ask at the gate`

func TestFind(t *testing.T) {
	for _, c := range []struct{ name, text, prompt, passage, words string }{
		{"a sentence", handbook, "When is a doctor's note needed?", "From the third day on a doctor's note is needed.", "doctor note needed"},
		{"a heading belongs to what it is above", handbook, "vacation days", "4.2 Vacation\n\nEverybody has 28 days of vacation a year.", "Vacation days vacation Days"},
		{"not a part of an abbreviation", handbook, "Weber agreed", "Days that are left over\nend on 31 March of the next year, unless Dr. Weber of the staff office has agreed to something else.", "Weber agreed"},
		{
			"several sentences where they have more", handbook, "twelfth for each month left until March",
			"Those who join later have a twelfth of it for each month. Days that are left over\nend on 31 March of the next year, unless Dr. Weber of the staff office has agreed to something else.",
			"twelfth each month left March",
		},
		{"an item", handbook, "cafe", "- Café: open from 7:30", "Café"},
		{"endings", "He runs. Die Wohnungen sind teuer.", "Was kostet die Wohnung?", "Die Wohnungen sind teuer.", "Wohnungen"},
		{"numbers are exact", "Part 12345 is red. Part 12346 is blue.", "12346", "Part 12346 is blue.", "12346"},
		{"a code written as one", "Part VX2290-A is red. Part VX2291-B is blue.", "vx2291b", "Part VX2291-B is blue.", "VX2291-B"},
		{"a code written in parts", "Part VX2290A is red. Part VX2291B is blue.", "VX2291-B", "Part VX2291B is blue.", "VX2291B"},
		{"a code in a row", "Order bolt-149,red,12. Order bolt-150,blue,13.", "bolt150", "Order bolt-150,blue,13.", "bolt-150"},
		{"letters before a number", "Doors are EN 13445. Pipes are ISO 9001.", "ISO9001", "Pipes are ISO 9001.", "ISO 9001"},
		{"a price", "It is 1234,65 Euro. That is 1234,56 Euro.", "1234.56", "That is 1234,56 Euro.", "1234 1234,56"},
		{"no spaces", "猫は魚が好きです。犬は散歩が好きです。", "犬の散歩", "犬は散歩が好きです。", "散歩"},
		{"nothing", handbook, "qwertz", "4.2 Vacation\n\nEverybody has 28 days of vacation a year.", ""},
		{"short words alone", "To be or not to be. That is it.", "is it", "That is it.", "is it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			span, found := For(c.prompt).Find(c.text, 0, 0, nil)
			if got := c.text[span.Start:span.End]; got != c.passage {
				t.Errorf("%q", got)
			}
			var words []string
			for _, w := range found {
				words = append(words, c.text[w.Start:w.End])
			}
			if got := strings.Join(words, " "); got != c.words {
				t.Errorf("marked: %q", got)
			}
		})
	}
}

func TestRowsAreSentences(t *testing.T) {
	text := "id,name\n1,red apple\n2,green apple\n3,pear\n"
	span, _ := For("green apple").Find(text, 8, 8, []int{8, 20, 34})
	if got := text[span.Start:span.End]; got != "2,green apple" {
		t.Errorf("%q", got)
	}
}

// TestSound: whatever the text, what is given lies in it, in order, between characters.
func TestSound(t *testing.T) {
	piece := rapid.OneOf(rapid.SampledFrom([]string{"word ", "Word. ", "\n", "\n\n", "- ", "1. ", "日本", "。", "é", "e\u0301", "12a", "\t", strings.Repeat("x", 900), "\u200b"}), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 0, 60).Draw(t, "text"), "")
		prompt := strings.Join(rapid.SliceOfN(piece, 0, 5).Draw(t, "prompt"), "")
		span, found := For(prompt).Find(text, 0, 0, nil)
		for _, s := range append([]Span{span}, found...) {
			if s.Start < 0 || s.End > len(text) || s.Start > s.End || !utf8.ValidString(text[s.Start:s.End]) {
				t.Fatalf("%v of %d bytes", s, len(text))
			}
		}
		if !slices.IsSortedFunc(found, func(a, b Span) int { return a.End - b.Start - 1 }) {
			t.Fatalf("out of order: %v", found)
		}
	})
}

// TestNoTextTakesLong: what ends no sentence is not looked at again for each character behind it. Processor time is compared, as
// others may use the processors meanwhile.
func TestNoTextTakesLong(t *testing.T) {
	takes := func(piece string) (least time.Duration) {
		text := strings.Repeat(piece, 1<<18/len(piece))
		for i := range 3 {
			begun := used(t)
			for range 4 {
				Sentences(text)
			}
			if took := used(t) - begun; i == 0 || took < least {
				least = took
			}
		}
		return least
	}
	words := takes("the pelican ")
	for _, piece := range []string{"pelican" + strings.Repeat(" ", 4000), "pelican" + strings.Repeat("\t", 4000), strings.Repeat("\n", 4000), "\n ", " \t", "\" ", ") "} {
		if took := takes(piece); took > 800*words { // 1,600 and more where it is looked at again
			t.Errorf("%.9q takes %v, words %v", piece, took, words)
		}
	}
}

// used is the processor time that this process has used.
func used(t *testing.T) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkFind(b *testing.B) {
	text := strings.Repeat(handbook+"\n\n", 8)
	for b.Loop() {
		For("When is a doctor's note needed?").Find(text, 0, 0, nil)
	}
	b.SetBytes(int64(len(text)))
}
