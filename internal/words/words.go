// Package words tells the words of names, and which words are looked for by a text: as they stand, the last one as a beginning,
// or one of them within one edit. PostgreSQL has the same of names by its functions plain and words_of.
package words

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// The bounds of what is looked for: the words that count, the letters of a word that count, and the words of a text that are tried
// within one edit, with their lengths.
const (
	most        = 10
	mostLetters = 60
	mostVaried  = 3
	leastVaried = 4
	longVaried  = 30
)

// separators are the characters between words, as in a bracket of a regular expression of PostgreSQL: blanks and punctuation.
const separators = "\\u0001-/:-@[-`{-\\u00bf\\u2000-\\u206f\\u3000-\\u303f"

func separates(r rune) bool {
	return r < utf8.RuneSelf && !unicode.IsLetter(r) && !unicode.IsDigit(r) || r >= 0x80 && r <= 0xbf || r >= 0x2000 && r <= 0x206f || r >= 0x3000 && r <= 0x303f
}

// Folded is a text without regard to case and accents.
func Folded(text string) string {
	plain := strings.Map(func(r rune) rune {
		if r >= 0x300 && r <= 0x36f {
			return -1
		}
		return r
	}, norm.NFKD.String(text))
	return strings.ToLower(plain)
}

// Of gives the words of a text.
func Of(text string) []string { return strings.FieldsFunc(Folded(text), separates) }

// spellings are what people write for Latin letters that are no letter of a to z with an accent, as PostgreSQL's function plain has it.
var spellings = strings.NewReplacer("ø", "o", "ł", "l", "đ", "d", "ð", "d", "ħ", "h", "ŧ", "t", "ı", "i", "ŋ", "n", "ĸ", "q", "ə", "e", "ɛ", "e", "ɔ", "o",
	"ɓ", "b", "ɗ", "d", "ƙ", "k", "ƴ", "y", "ǥ", "g", "ß", "ss", "æ", "ae", "œ", "oe", "þ", "th")

// Plain is a name without regard to case and accents, and with the letters of a to z that people write for others.
func Plain(name string) string { return spellings.Replace(Folded(name)) }

// OfName gives the words of a name.
func OfName(name string) []string { return strings.FieldsFunc(Plain(name), separates) }

// Sought are the words that a text looks for.
type Sought []string

// Parse gives the words that a text looks for; none where it has no letter and no digit.
func Parse(text string) Sought {
	list := OfName(text)
	list = list[:min(len(list), most)]
	for i, w := range list {
		if runes := []rune(w); len(runes) > mostLetters {
			list[i] = string(runes[:mostLetters])
		}
	}
	return list
}

// isLong tells a word that was cut: it is looked for as a beginning.
func isLong(w string) bool { return utf8.RuneCountInString(w) == mostLetters }

// In tells whether all words are among some, the last one as the beginning of one.
func (s Sought) In(list []string) bool {
	for i, w := range s {
		if i < len(s)-1 && !isLong(w) && !slices.Contains(list, w) || !slices.ContainsFunc(list, func(o string) bool { return strings.HasPrefix(o, w) }) {
			return false
		}
	}
	return true
}

// Queries are tsqueries, all of which names fit that have all words, the last one as a beginning; mark stands before each word.
func (s Sought) Queries(mark string) []string {
	last := len(s) - 1
	return append(terms(mark, s[:last]), "'"+mark+s[last]+"':*")
}

// terms are tsqueries of single words, with mark before each.
func terms(mark string, list []string) []string {
	quoted := make([]string, len(list), len(list)+1)
	for i, w := range list {
		quoted[i] = "'" + mark + w + "'"
		if isLong(w) {
			quoted[i] += ":*"
		}
	}
	return quoted
}

// Patterns are regular expressions, each of which the plain name has to match, as it does for Queries.
func (s Sought) Patterns() []string {
	list := whole(s)
	list[len(list)-1] = begin + s[len(s)-1]
	return list
}

// Parts are texts as LIKE has them, all of which are in each plain name that fits: a name without one is passed by at less cost than by its patterns.
func (s Sought) Parts() []string {
	list := make([]string, len(s))
	for i, w := range s {
		list[i] = "%" + w + "%"
	}
	return list
}

const begin, end = "(^|[" + separators + "])", "($|[" + separators + "])"

// whole are the patterns of words as they stand. Of a long word, its beginning counts.
func whole(list []string) []string {
	patterns := make([]string, len(list), len(list)+1)
	for i, w := range list {
		patterns[i] = begin + w + end
		if isLong(w) {
			patterns[i] = begin + w
		}
	}
	return patterns
}

// Near is what lies within one edit of one word of a text: one letter more, one less, another one, or two that have changed
// places. The other words are as they stand.
type Near struct {
	word   string
	others Sought
}

// Nears are the words that are tried within one edit, the longest ones. One with digits is not, since another number is another thing.
func (s Sought) Nears() []Near {
	var list []Near
	for i, w := range s {
		if n := utf8.RuneCountInString(w); n >= leastVaried && n <= longVaried && !strings.ContainsFunc(w, unicode.IsDigit) {
			list = append(list, Near{w, slices.Concat(s[:i], s[i+1:])})
		}
	}
	slices.SortStableFunc(list, func(a, b Near) int { return cmp.Compare(len(b.word), len(a.word)) })
	return list[:min(len(list), mostVaried)]
}

// Others are tsqueries, all of which names fit that have all the other words, with mark before each.
func (n Near) Others(mark string) []string { return terms(mark, n.others) }

// Patterns are regular expressions, each of which the plain name has to match.
func (n Near) Patterns() []string {
	letter := "[" + string(n.alphabet()) + "]"
	var edits []string
	n.edits(func(before, middle, after string) {
		edits = append(edits, before+strings.ReplaceAll(middle, "?", letter)+after)
	})
	return append(whole(n.others), begin+"("+strings.Join(edits, "|")+")"+end)
}

// Parts are texts as LIKE has them, one of which is in each plain name that fits: an edit leaves one half of the word as it is, but for letters of both that change places.
func (n Near) Parts() []string {
	w := []rune(n.word)
	half := len(w) / 2
	first, second := string(w[:half]), string(w[half:])
	turned := string(w[:half-1]) + string(w[half]) + string(w[half-1]) + string(w[half+1:])
	return []string{"%" + first + "%", "%" + second + "%", "%" + turned + "%"}
}

// Queries are tsqueries, one of which names fit that have the word with one edit, with mark before it.
func (n Near) Queries(mark string) []string {
	made, letters := map[string]bool{}, n.alphabet()
	n.edits(func(before, middle, after string) {
		if middle != "?" {
			made[before+middle+after] = true
			return
		}
		for _, r := range letters {
			made[before+string(r)+after] = true
		}
	})
	list := make([]string, 0, len(made))
	for w := range made {
		list = append(list, "'"+mark+w+"'")
	}
	slices.Sort(list)
	return list
}

// edits are those of the word: what lies before and behind one, and what stands there, ? being any letter.
func (n Near) edits(each func(before, middle, after string)) {
	w := []rune(n.word)
	for i := range len(w) + 1 {
		each(string(w[:i]), "?", string(w[i:]))
		if i < len(w) {
			each(string(w[:i]), "?", string(w[i+1:]))
			each(string(w[:i]), "", string(w[i+1:]))
		}
		if i+1 < len(w) {
			each(string(w[:i]), string([]rune{w[i+1], w[i]}), string(w[i+2:]))
		}
	}
}

// alphabets are the letters that an edit puts into a word with one of them.
var alphabets = []string{"abcdefghijklmnopqrstuvwxyz", "абвгдежзийклмнопрстуфхцчшщъыьэюяіїєґ", "αβγδεζηθικλμνξοπρσςτυφχψω"}

// alphabet are the letters that an edit puts in: those of the word's alphabets, and its own.
func (n Near) alphabet() []rune {
	letters := n.word
	for _, a := range alphabets {
		if strings.ContainsAny(n.word, a) {
			letters += a
		}
	}
	list := []rune(letters)
	slices.Sort(list)
	return slices.Compact(list)
}
