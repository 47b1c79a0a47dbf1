package lexical

import (
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/arabic"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/irish"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/tamil"
	"github.com/blevesearch/snowballstem/turkish"
	"github.com/kljensen/snowball/english"
)

// tongue is a language with its stemmer, and the words by which it is told, which are not indexed.
type tongue struct {
	stem  func(word string) string
	stops map[string]bool
	seed  uint64 // of the places of its words in the memory
}

// known is a word of a language as it is indexed, if it is.
type known struct {
	tongue  *tongue
	word    string
	indexed bool
	bucket  uint32
	parts   []uint32
}

// memorySize is how many words of all languages are remembered: some ten megabytes at most, as longer ones are not.
const memorySize = 1 << 16

// memory has a word at one of the two places that follow from it: so the words of a text hardly ever drive out each other.
var memory [memorySize]atomic.Pointer[known]

// stemmed gives a word in lower case as it is indexed.
func (t *tongue) stemmed(lower string) *known {
	if len(lower) > maxStemmed {
		return t.learn(lower)
	}
	h := mix(hash(lower) ^ t.seed)
	first, second := &memory[h%memorySize], &memory[h>>32%memorySize]
	if k := first.Load(); k != nil && k.tongue == t && k.word == lower {
		return k
	}
	place := second
	switch k := second.Load(); {
	case k == nil:
	case k.tongue == t && k.word == lower:
		return k
	default:
		place = first
	}
	k := t.learn(strings.Clone(lower)) // not the text that the word was cut from
	place.Store(k)
	return k
}

func (t *tongue) learn(lower string) *known {
	k := &known{tongue: t, word: lower}
	if t.stops[lower] {
		return k
	}
	number := firstRune(lower) <= '9'
	text := lower
	if len(lower) <= maxStemmed && !number {
		text = t.stem(lower)
	}
	text = fold(text)
	if k.indexed, k.bucket = text != "", bucketTwo(kindWord, hash(text)); k.indexed && !number {
		k.parts = partsOf(fold(lower))
	}
	return k
}

// snowball is a stemmer of its library.
func snowball(stem func(*snowballstem.Env) bool) func(string) string {
	return func(word string) string {
		env := snowballstem.NewEnv(word)
		stem(env)
		return env.Current()
	}
}

func newTongue(stem func(string) string, words string) *tongue {
	t := &tongue{stem: stem, stops: map[string]bool{}, seed: hash(words)}
	for _, w := range strings.Fields(words) {
		t.stops[w] = true
	}
	return t
}

// inEnglish is the language of texts that are told by nothing.
var inEnglish = newTongue(func(word string) string {
	if english.IsStopWord(word) {
		return ""
	}
	return english.Stem(word, true)
}, "the of and to in is are was were for with that this it on as by be from at which how what when where who does do did can an or not")

// The languages of other scripts.
var (
	inArabic  = newTongue(snowball(arabic.Stem), "في من على إلى عن أن هل ما كيف متى أين التي الذي هذا هذه مع كل هو هي و أو لا كم")
	inRussian = newTongue(snowball(russian.Stem), "и в на не что с по как к из за для от о а но то у же когда где кто какой какие какая чем это при или до ли")
	inTamil   = newTongue(snowball(tamil.Stem), "")
)

// latin are the languages of Latin letters, but for English.
var latin = [latins]*tongue{
	newTongue(snowball(german.Stem), "der die das und in zu den von mit ist des sich dem ein eine einer eines einem einen nicht auf für im als auch wie was wer wann wo wird werden welche welcher welches sind bei aus nach am zum zur über man kann ich es an oder vor durch"),
	newTongue(snowball(french.Stem), "le la les de des du et un une est en que qui dans pour sur au aux par avec ne pas ce cette ces sont se il elle on ou où quel quelle quels quelles comment quand combien plus peut d l qu s n à été"),
	newTongue(snowball(spanish.Stem), "el la los las de del y un una es en que qué para con por se no al lo como cómo cuándo dónde cuál cuáles quién son está su sus más o a hay puede cada"),
	newTongue(snowball(italian.Stem), "il lo la i gli le di del della dei delle degli e un una è in che per con su da dal non si come quando dove quale quali chi sono al alla ai alle nel nella più o a cosa può ogni dell l dalla"),
	newTongue(snowball(portuguese.Stem), "o a os as de do da dos das e um uma é em no na nos nas que para com por se não ao como quando onde qual quais quem são está seu sua mais ou pelo pela à pode cada"),
	newTongue(snowball(dutch.Stem), "de het een en van in is op te dat die voor met zijn niet aan er om door wordt worden hoe wat wie wanneer waar welke bij uit naar ook als kan men of tot over"),
	newTongue(snowball(danish.Stem), "og i at det en den til er som på de med han af for ikke der var et hvordan hvad hvem hvornår hvor hvilke bliver fra kan eller"),
	newTongue(snowball(norwegian.Stem), "og i å det en den til er som på de med av for ikke der var et hvordan hva hvem når hvor hvilke blir fra kan eller ei"),
	newTongue(snowball(swedish.Stem), "och i att det en den till är som på de med av för inte var ett hur vad vem när vilka blir från kan eller om"),
	newTongue(snowball(finnish.Stem), "ja on ei se että oli joka kun niin mutta myös ovat tai mitä miten missä milloin kuka kuinka mikä ole sen"),
	newTongue(snowball(hungarian.Stem), "a az és hogy nem is egy van ez meg de mint hogyan mikor hol ki mi melyik vagy csak milyen"),
	newTongue(snowball(romanian.Stem), "și de la în a cu pe nu este un o că care din pentru sunt se ce cum când unde cine sau mai al ale"),
	newTongue(snowball(turkish.Stem), "ve bir bu da de için ile ne nasıl mi mı çok olan olarak gibi daha her kim nerede hangi kadar var"),
	newTongue(snowball(irish.Stem), "an na agus is ar le tá ní go sa do bhí conas cathain cén cad ag"),
	newTongue(func(word string) string { return word }, "i w na z do się nie jest o że jak to po za od są co kiedy gdzie kto który która które jakie jaki przez dla oraz ile czy przy"),
}

// told is how much of a text is looked at for its language, in bytes.
const told = 2000

// aVote is what a word counts for the only language that has it. Fewer votes than one in so many words are chance: of a
// language's own texts, function words are a third.
const (
	aVote = 12
	oneIn = 20
)

// votes maps words to those of latin that they speak for.
var votes = func() map[string][]int {
	m := map[string][]int{}
	for i, t := range latin {
		for w := range t.stops {
			m[w] = append(m[w], i)
		}
	}
	for w := range inEnglish.stops {
		m[w] = append(m[w], len(latin))
	}
	return m
}()

// voting has the lengths of the words that vote, as bits, by their first byte: most other words are told from them by that.
var voting = func() (table [256]uint32) {
	for w := range votes {
		table[w[0]] |= 1 << len(w)
	}
	return table
}()

// ballot tells the language of a text of Latin letters by its function words. A word counts less the more languages have it.
type ballot struct {
	points [latins + 1]int
	words  int
}

// latins is how many languages latin has.
const latins = 15

// count takes a word in lower case in.
func (b *ballot) count(lower string) {
	b.words++
	if voting[lower[0]]>>len(lower)&1 == 0 {
		return
	}
	list := votes[lower]
	for _, i := range list {
		b.points[i] += aVote / min(len(list), 6)
	}
}

// countAll takes the words of a text in.
func (b *ballot) countAll(text string) {
	for text != "" {
		word, rest, _ := nextWord(text)
		if text = rest; word != "" {
			b.count(strings.ToLower(word))
		}
	}
}

func (b *ballot) winner() *tongue {
	best, most := latins, b.points[latins]
	for i, n := range b.points {
		if n > most {
			best, most = i, n
		}
	}
	if best == latins || most*oneIn < b.words*aVote {
		return inEnglish
	}
	return latin[best]
}

// beginning is the part of a text by which its language is told.
func beginning(text string) string {
	if len(text) <= told {
		return text
	}
	end := told
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// scriptOf gives the language of a text by its script, where that tells it.
func scriptOf(text string) *tongue {
	var ascii, cyrillic, arab, tamilCount int
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf:
			if unicode.IsLetter(r) {
				ascii++
			}
		case unicode.Is(unicode.Cyrillic, r):
			cyrillic++
		case unicode.Is(unicode.Arabic, r):
			arab++
		case unicode.Is(unicode.Tamil, r):
			tamilCount++
		}
	}
	switch max(ascii, cyrillic, arab, tamilCount) {
	case ascii:
		return nil
	case cyrillic:
		return inRussian
	case arab:
		return inArabic
	}
	return inTamil
}
