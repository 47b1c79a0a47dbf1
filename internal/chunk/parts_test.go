package chunk

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPartsAreTheWhole(t *testing.T) {
	sentence := "The pump moves water from the well to a tank on the roof. "
	for name, content := range map[string]string{
		"prose": strings.Repeat(sentence, 80), "lines": strings.Repeat("a line of a list\n", 300), "without blanks": strings.Repeat("文書の検索", 400),
		"one word": strings.Repeat("x", 5000), "short": sentence, "empty": "",
	} {
		for _, most := range []int{1, 2, 4, 8} {
			parts := Chunk{Content: content}.Parts(most)
			if strings.Join(parts, "") != content || len(parts) > most || len(parts) == 0 {
				t.Errorf("%s: %d parts of at most %d, or another text", name, len(parts), most)
			}
			for _, p := range parts {
				if !utf8.ValidString(p) || len(parts) > 1 && len(p)*len(parts) < len(content)*6/10 {
					t.Errorf("%s: %d bytes in one of %d parts of %d", name, len(p), len(parts), len(content))
				}
			}
		}
	}
	for _, p := range (Chunk{Content: strings.Repeat(sentence, 80)}).Parts(8) {
		if !strings.HasSuffix(p, ". ") {
			t.Errorf("%q ends within a sentence", p)
		}
	}
}
