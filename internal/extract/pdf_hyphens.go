package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// cutHyphen stands for a hyphen at a line's end, after which the next line's word follows at once. The engine gives U+FFFE there,
// as older ones gave this.
const cutHyphen = '\x02'

// Bounds of what is counted to decide on hyphens. Beyond them words are put together.
const (
	maxCutWords = 100_000 // different words that are looked for
	maxCutWord  = 64      // bytes of a part
)

// hyphens decides which hyphens at line ends belong to their words: by how the document writes these words where no line ends,
// and by a few rules where it doesn't write them. So it needs no dictionary, and knows the words of the document's trade.
type hyphens struct {
	// seen counts words, and pairs of words with a hyphen between them, in lower case; only what cut words ask for.
	seen map[string]int
	// firsts are those that are followed by a hyphen somewhere.
	firsts map[string]bool
}

// newHyphens counts the words of all pages.
func newHyphens(pages []string) *hyphens {
	h := &hyphens{seen: map[string]int{}, firsts: map[string]bool{}}
	for _, page := range pages {
		h.ask(page)
	}
	if len(h.seen) == 0 {
		return h
	}
	for _, page := range pages {
		h.count(page)
	}
	return h
}

// ask notes what the cut words of a page need to know.
func (h *hyphens) ask(page string) {
	for at := 0; len(h.seen) < maxCutWords; {
		i := strings.IndexByte(page[at:], cutHyphen)
		if i < 0 {
			return
		}
		at += i + 1
		left, right := wordBefore(page, at-1), wordAfter(page, at)
		if left == "" || right == "" {
			continue
		}
		left, right = strings.ToLower(left), strings.ToLower(right)
		for _, word := range []string{left + right, left + "-" + right, right, left} {
			h.seen[word] += 0
		}
	}
}

// count takes in the words of a page that are not cut, and those with a hyphen within a line.
func (h *hyphens) count(page string) {
	before := "" // the word before a hyphen
	for at := 0; at < len(page); {
		r, size := utf8.DecodeRuneInString(page[at:])
		if !inWord(r) {
			if r != '-' && r != '\u2010' {
				before = ""
			}
			at += size
			continue
		}
		word := wordAfter(page, at)
		if word == "" { // too long
			at += wordLength(page[at:])
			continue
		}
		cut := at > 0 && page[at-1] == cutHyphen || at+len(word) < len(page) && page[at+len(word)] == cutHyphen
		at += len(word)
		word = strings.ToLower(word)
		if !cut {
			h.add(word)
			if before != "" {
				h.add(before + "-" + word)
			}
		}
		if before = ""; strings.HasPrefix(page[at:], "-") || strings.HasPrefix(page[at:], "\u2010") {
			before = word
			h.first(word)
		}
	}
}

func (h *hyphens) add(word string) {
	if n, asked := h.seen[word]; asked {
		h.seen[word] = n + 1
	}
}

func (h *hyphens) first(word string) {
	if _, asked := h.seen[word]; asked {
		h.firsts[word] = true
	}
}

// mend puts the cut words of a page together, each with its hyphen or without it.
func (h *hyphens) mend(page string) string {
	if strings.IndexByte(page, cutHyphen) < 0 {
		return page
	}
	var b strings.Builder
	b.Grow(len(page))
	from := 0
	for {
		i := strings.IndexByte(page[from:], cutHyphen)
		if i < 0 {
			break
		}
		at := from + i
		b.WriteString(page[from:at])
		from = at + 1
		b.WriteString(h.between(page, at))
	}
	b.WriteString(page[from:])
	return b.String()
}

// Small words that a rule names.
var (
	// joiners follow a word of which only the beginning is said, as in "Vor- und Nachteile".
	joiners = map[string]bool{"and": true, "und": true, "oder": true, "sowie": true}
	// compounders make words with a hyphen, unless an ending follows.
	compounders = map[string]bool{
		"well": true, "self": true, "half": true, "twenty": true, "thirty": true, "forty": true, "fifty": true, "sixty": true,
		"seventy": true, "eighty": true, "ninety": true,
	}
	endings = map[string]bool{"ness": true, "ing": true, "ings": true, "ish": true, "less": true, "hood": true, "ed": true, "er": true, "ers": true, "est": true}
)

// between gives what stands between the parts of the word that is cut at a place.
func (h *hyphens) between(page string, at int) string {
	left, right := wordBefore(page, at), wordAfter(page, at+1)
	if left == "" || right == "" {
		return ""
	}
	shouted := left == strings.ToUpper(left) && right == strings.ToUpper(right)
	next, _ := utf8.DecodeRuneInString(right)
	left, right = strings.ToLower(left), strings.ToLower(right)
	joined, parted := h.seen[left+right], h.seen[left+"-"+right]
	switch {
	case joined > 0 || parted > 0:
		return hyphenIf(parted >= joined)
	case joiners[right]:
		return "- "
	case !unicode.IsLower(next) && unicode.In(next, unicode.Lu, unicode.Lt, unicode.Nd) && (!shouted || unicode.IsDigit(next)):
		return "-"
	case compounders[left]:
		return hyphenIf(!endings[right])
	}
	// The document makes such words, or this one has a hyphen already, of words that it also knows alone.
	inChain := strings.HasSuffix(page[:at-len(left)], "-") || strings.HasPrefix(page[at+1+len(right):], "-")
	return hyphenIf(h.seen[right] > 0 && (h.firsts[left] || inChain && h.seen[left] > 0))
}

func hyphenIf(belongs bool) string {
	if belongs {
		return "-"
	}
	return ""
}

func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r)
}

// wordBefore is the word that ends at an offset; "" for one that is too long.
func wordBefore(text string, end int) string {
	at := end
	for at > 0 {
		r, size := utf8.DecodeLastRuneInString(text[:at])
		if !inWord(r) {
			break
		}
		if at -= size; end-at > maxCutWord {
			return ""
		}
	}
	return text[at:end]
}

// wordAfter is the word that begins at an offset; "" for one that is too long.
func wordAfter(text string, at int) string {
	end := wordLength(text[at:min(len(text), at+maxCutWord+utf8.UTFMax)])
	if end > maxCutWord {
		return ""
	}
	return text[at : at+end]
}

// wordLength is the length of the word that a text begins with.
func wordLength(text string) int {
	if i := strings.IndexFunc(text, func(r rune) bool { return !inWord(r) }); i >= 0 {
		return i
	}
	return len(text)
}
