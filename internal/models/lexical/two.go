package lexical

import (
	"math/bits"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"canopy/internal/recent"
)

// canopy-lexical-2 tells the language of a text, stems its words by the language's stemmer and folds accents; parts of words
// unite what a stemmer does not, such as compounds and slips of typing, and codes are found split and joined. Its 2^32
// buckets are so many that two terms hardly ever share one. The two highest bits of a bucket tell what falls into it.
const (
	kindWord = iota
	kindPair
	kindPart
)

// The bits of a bucket, and those below its kind.
const (
	bitsTwo   = 32
	kindShift = bitsTwo - 2
)

var factorsTwo = [4]float32{kindWord: 1, kindPair: pairWeight, kindPart: 0.2}

// countsTwo leaves parts of words out that many texts have: they cost the most to read, and weigh the least.
func countsTwo(bucket uint32, n, df int) bool {
	return bucket>>kindShift != kindPart || df <= max(n/8, 64)
}

// partRunes is how long a part of a word is, the mark of the word's beginning included, and partOf from how many letters on
// a word has parts.
const (
	partRunes = 5
	partOf    = 4
)

// features collects the buckets of a text: words, pairs and parts.
type features struct {
	tongue *tongue
	raw    []uint32
	last   uint64
	near   bool     // last holds the word right before
	seen   []*known // words whose parts are counted, which have at least 4 bytes: each at the first free place from its bucket on
	pieces []piece
	recent recent.Table[*known] // before the memory of all
}

// texts keeps what one text needs for the next. Of a longer one than most chunks nothing is kept.
var texts = sync.Pool{New: func() any { return new(features) }}

const longText = 64 << 10

func (f *features) done(text string) {
	if len(text) <= longText {
		texts.Put(f)
	}
}

// featuresTwo appends the features of a text by the second model, which are the buckets that they fall into.
func featuresTwo(to []uint32, text string) []uint32 {
	f := featuresOf(to, text)
	defer f.done(text)
	to, f.raw = f.raw, nil
	return to
}

// wordsTwo gives the words of a text with their parts.
func wordsTwo(text string) (list []Word) {
	f := featuresOf(nil, text)
	defer f.done(text)
	for _, word := range f.seen {
		if word != nil {
			list = append(list, Word{word.bucket, word.parts})
		}
	}
	return list
}

func featuresOf(to []uint32, text string) *features {
	f := texts.Get().(*features)
	f.raw, f.near = to, false
	n := 1 << bits.Len(uint(len(text)/3))
	f.seen = slices.Grow(f.seen[:0], n)[:n]
	clear(f.seen)
	f.cut(norm.NFKC.String(text))
	var head string // letters right before, which may belong to a number: ISO 9001
	for _, p := range f.pieces {
		switch {
		case p.plain:
			f.word(p.lower)
		case p.unspaced:
			pairs(p.text, func(t Term) bool {
				f.add(kindWord, t.Text)
				return true
			})
			f.near = false
		default:
			f.token(p.text, head)
		}
		if head = ""; !p.plain && !p.unspaced && isHead(p.text) {
			head = p.text
		}
	}
	clear(f.pieces) // not the text for longer
	return f
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// add counts a term.
func (f *features) add(kind uint32, term string) {
	f.raw = append(f.raw, bucketTwo(kind, hash(term)))
}

func bucketTwo(kind uint32, h uint64) uint32 { return kind<<kindShift | spread(h)>>(32-kindShift) }

// word counts a word, its neighbourhood and its parts.
func (f *features) word(lower string) {
	stem := f.known(lower)
	if !stem.indexed {
		return
	}
	f.raw = append(f.raw, stem.bucket)
	if f.near {
		f.raw = append(f.raw, bucketTwo(kindPair, pairHash(f.last, uint64(stem.bucket))))
	}
	f.last, f.near = uint64(stem.bucket), true
	if len(stem.parts) > 0 && f.first(stem) {
		f.raw = append(f.raw, stem.parts...)
	}
}

// known gives a word in lower case as it is indexed.
func (f *features) known(lower string) *known {
	key, short := recent.KeyOf(lower)
	if !short {
		return f.tongue.stemmed(lower)
	}
	k, found := f.recent.Find(key)
	if !found || (*k).tongue != f.tongue {
		*k = f.tongue.stemmed(lower)
	}
	return *k
}

// first tells whether a word comes for the first time, and remembers it.
func (f *features) first(word *known) bool {
	mask := uint32(len(f.seen) - 1)
	for at := word.bucket & mask; ; at = (at + 1) & mask {
		switch f.seen[at] {
		case nil:
			f.seen[at] = word
			return true
		case word:
			return false
		}
	}
}

// partsOf gives the parts of a folded word.
func partsOf(word string) []uint32 {
	runes := append([]rune{'^'}, []rune(word)...)
	if len(runes) <= partOf || len(word) > maxStemmed {
		return nil
	}
	list := make([]uint32, 0, len(runes)-partOf)
	for i := 0; i+partRunes <= len(runes); i++ {
		list = append(list, bucketTwo(kindPart, hash(string(runes[i:i+partRunes]))))
	}
	return list
}

// token counts a piece of text that is not plain: a code joined and split, other words one by one.
func (f *features) token(piece, head string) {
	words := split(piece)
	digits := strings.IndexFunc(piece, unicode.IsDigit) >= 0
	if digits && head != "" {
		f.add(kindWord, joined(head+piece))
	}
	if (digits || camel(piece)) && len(words) > 1 && len(piece) <= maxCode {
		f.add(kindWord, joined(piece))
	}
	for _, w := range words {
		if digits && len(words) > 1 && utf8.RuneCountInString(w) == 1 {
			continue // it tells nothing without the rest
		}
		f.word(strings.ToLower(w))
	}
}

// maxCode is how long a code is at most, in bytes.
const maxCode = 64

// joined is a code without what joins it, in lower case.
func joined(code string) string {
	return fold(strings.ToLower(strings.Map(func(r rune) rune {
		if strings.ContainsRune(joints, r) {
			return -1
		}
		return r
	}, code)))
}

// isHead tells letters that may belong to a number behind them.
func isHead(piece string) bool {
	if len(piece) < 2 || len(piece) > 5 {
		return false
	}
	for _, r := range piece {
		if !unicode.IsUpper(r) {
			return false
		}
	}
	return true
}

// camel tells words that are written as one: maxRetryCount.
func camel(piece string) bool {
	var before rune
	for _, r := range piece {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			return true
		}
		before = r
	}
	return false
}

// split cuts a piece at its joints, between letters and digits, and before capitals within a word.
func split(piece string) (words []string) {
	start := 0
	cut := func(end, next int) {
		if end > start {
			words = append(words, piece[start:end])
		}
		start = next
	}
	var before rune
	for i, r := range piece {
		switch {
		case strings.ContainsRune(joints, r):
			cut(i, i+utf8.RuneLen(r))
		case i > start && (unicode.IsDigit(r) != unicode.IsDigit(before) && !unicode.IsMark(r) || unicode.IsUpper(r) && unicode.IsLower(before)):
			cut(i, i)
		}
		before = r
	}
	cut(len(piece), len(piece))
	return words
}

// fold takes the accents off letters.
func fold(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return s
	}
	s = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) || r == tatweel {
			return -1
		}
		return r
	}, norm.NFD.String(s))
	return letters.Replace(s)
}

// tatweel makes Arabic words longer and means nothing.
const tatweel = 'ـ'

// letters are those that do not come apart into a letter and an accent.
var letters = strings.NewReplacer("ß", "ss", "ø", "o", "ł", "l", "đ", "d", "æ", "ae", "œ", "oe", "ı", "i", "ى", "ي", "ة", "ه")
