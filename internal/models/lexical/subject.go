package lexical

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// framing are words that ask for something to be told, in English and German: an answer hardly ever has them. Those of a question that stand in its answer too, such as
// "mean" or "cost", are none.
var framing = wordSet(`happen happens happened happening explain explains describe tell summarize summarise please
	passiert geschieht erkläre erklär erklären beschreibe beschreiben nenne bitte`)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// Subject is what a question is about: its words without those that frame it. A question of nothing else is its own subject.
func Subject(question string) string {
	var kept strings.Builder
	framed := false
	for rest := norm.NFKC.String(question); rest != ""; {
		word, after, _ := nextWord(rest)
		part := rest[:len(rest)-len(after)]
		rest = after
		if framing[strings.ToLower(word)] {
			framed = true
			continue
		}
		kept.WriteString(part)
	}
	if !framed || len(Two.Embed(kept.String())) == 0 {
		return question
	}
	return kept.String()
}
