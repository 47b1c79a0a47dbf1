package passage

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Bounds of what is sought: the terms, and the letters by which words with other endings are told.
const (
	maxTerms = 64
	minAlike = 5
	ending   = 3
)

// Sought is what is looked for.
type Sought struct {
	terms []term
	// begins has the terms by their first letter.
	begins map[rune][]int
	// plainly tells of the letters and digits of ASCII, large and small, whether a term begins with them: most words of a text are passed over by it.
	plainly [utf8.RuneSelf]bool
	// numbers tells that a term has a digit, so that codes are looked for.
	numbers bool
}

type term struct {
	text   string
	number bool // has a digit: an ending is another number
	weight float64
}

// word is a place in a text that has a term.
type word struct {
	Span
	term int
}

// For gives what a prompt looks for. Its short words count only where it has no others.
func For(prompt string) *Sought {
	s := &Sought{begins: map[rune][]int{}}
	for _, least := range []int{4, 1} {
		for span := range each(prompt, 0) {
			if raw := prompt[span.Start:span.End]; long(raw, least) {
				s.add(fold(raw))
			}
		}
		for code := range codes(prompt, 0) {
			s.add(joined(prompt[code.Start:code.End]))
		}
		if len(s.terms) > 0 {
			break
		}
	}
	return s
}

// long tells whether a word says something: it has some letters, a digit, capitals alone, or is of a script without spaces.
func long(raw string, least int) bool {
	r, _ := utf8.DecodeRuneInString(raw)
	return ideographic(r) || utf8.RuneCountInString(raw) >= least || strings.IndexFunc(raw, unicode.IsDigit) >= 0 ||
		len(raw) > 1 && strings.IndexFunc(raw, func(r rune) bool { return !unicode.IsUpper(r) }) < 0
}

func (s *Sought) add(text string) {
	for _, t := range s.terms {
		if t.text == text {
			return
		}
	}
	if len(s.terms) == maxTerms || text == "" {
		return
	}
	r, _ := utf8.DecodeRuneInString(text)
	s.begins[r] = append(s.begins[r], len(s.terms))
	if r < utf8.RuneSelf {
		s.plainly[r], s.plainly[unicode.ToUpper(r)] = true, true
	}
	number := strings.IndexFunc(text, unicode.IsDigit) >= 0
	s.numbers = s.numbers || number
	s.terms = append(s.terms, term{text, number, 1 + float64(min(utf8.RuneCountInString(text), 10))/10})
}

// words finds the words of a text that have a term, and the codes, each before its words.
func (s *Sought) words(text string, from int) []word {
	list := s.plain(text, from)
	if !s.numbers {
		return list
	}
	for code := range codes(text, from) {
		i := slices.IndexFunc(s.terms, func(t term) bool { return t.number && t.text == joined(text[code.Start:code.End]) })
		if i < 0 {
			continue
		}
		first, _ := slices.BinarySearchFunc(list, code.Start, func(w word, at int) int { return w.Start - at })
		list = slices.Insert(list, first, word{code, i})
	}
	return list
}

// plain finds the words of a text that have a term, each by itself.
func (s *Sought) plain(text string, from int) (list []word) {
	for span := range each(text, from) {
		if b := text[span.Start]; b < utf8.RuneSelf && !s.plainly[b] {
			continue
		}
		r, _ := utf8.DecodeRuneInString(text[span.Start:span.End])
		candidates := s.begins[base(r)]
		if len(candidates) == 0 {
			continue
		}
		folded := fold(text[span.Start:span.End])
		for _, i := range candidates {
			if s.terms[i].alike(folded) {
				list = append(list, word{span, i})
				break
			}
		}
	}
	return list
}

// alike tells whether a word is the term, or the term with another ending.
func (t *term) alike(word string) bool {
	if t.text == word {
		return true
	}
	a, b := utf8.RuneCountInString(t.text), utf8.RuneCountInString(word)
	least := min(a, b)
	if t.number || least < minAlike || max(a, b)-least > ending {
		return false
	}
	return common(t.text, word) >= max(4, least-2)
}

// common counts the characters that two words begin with.
func common(a, b string) (n int) {
	for a != "" && b != "" {
		x, size := utf8.DecodeRuneInString(a)
		y, _ := utf8.DecodeRuneInString(b)
		if x != y {
			break
		}
		a, b = a[size:], b[size:]
		n++
	}
	return n
}

// plainWord has the letters and digits of ASCII, of which most texts are.
var plainWord = func() (is [utf8.RuneSelf]bool) {
	for r := range rune(utf8.RuneSelf) {
		is[r] = unicode.IsLetter(r) || unicode.IsDigit(r)
	}
	return is
}()

// plainRun is how many of them a text begins with.
func plainRun(text string) (n int) {
	for n < len(text) && text[n] < utf8.RuneSelf && plainWord[text[n]] {
		n++
	}
	return n
}

// each gives the words of a text from an offset on: runs of letters and digits, and in scripts that write no spaces each pair of
// characters.
func each(text string, from int) func(func(Span) bool) {
	return func(yield func(Span) bool) {
		start, before := -1, -1 // of a run, and of the character before in a script without spaces
		for at := from; at < len(text); {
			if n := plainRun(text[at:]); n > 0 {
				if start < 0 {
					start = at
				}
				before = -1
				at += n
				continue
			}
			r, size := utf8.DecodeRuneInString(text[at:])
			wide := ideographic(r)
			inWord := r >= utf8.RuneSelf && !wide && (unicode.IsLetter(r) || unicode.IsDigit(r) || start >= 0 && unicode.IsMark(r))
			if !inWord && start >= 0 {
				if !yield(Span{start, at}) {
					return
				}
				start = -1
			}
			if inWord && start < 0 {
				start = at
			}
			if wide && before >= 0 && !yield(Span{before, at + size}) {
				return
			}
			if before = -1; wide {
				before = at
			}
			at += size
		}
		if start >= 0 {
			yield(Span{start, len(text)})
		}
	}
}

// ideographic tells the scripts that write no spaces.
func ideographic(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// fold gives a word in lower case without accents.
func fold(word string) string {
	ascii := true
	for i := range len(word) {
		ascii = ascii && word[i] < utf8.RuneSelf
	}
	if ascii {
		return strings.ToLower(word)
	}
	var b strings.Builder
	for _, r := range norm.NFD.String(word) {
		if !unicode.IsMark(r) || ideographic(r) {
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

// base is the first character that a word which begins with r has once it is folded.
func base(r rune) rune {
	if r < utf8.RuneSelf {
		return unicode.ToLower(r)
	}
	folded, _ := utf8.DecodeRuneInString(fold(string(r)))
	return folded
}
