package search

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"canopy/db"
	"canopy/internal/chunk"
	"canopy/internal/passage"
)

// Span is a part of a hit's content, in characters (code points).
type Span struct{ Start, End int }

// Passage is the part of a hit's content that says most of what was looked for, and where in the document it stands.
type Passage struct {
	Span
	Content string
	// Page, Heading and Row are where it begins; zero where that is unknown. The heading is a path from the top.
	Page    int
	Heading string
	Row     int
}

// mark finds the passage of a hit, and the words in its content that were looked for.
func mark(h *Hit, s *passage.Sought) {
	k, places := h.Chunk, placesOf(h.Chunk)
	best, words := look(k, places, s)
	at := places[max(0, sort.Search(len(places), func(i int) bool { return places[i].Offset > best.Start })-1)]
	spans := inCharacters(k.Content, append([]passage.Span{best}, words...))
	h.Passage = Passage{Span: spans[0], Content: k.Content[best.Start:best.End], Page: at.Page, Heading: at.Heading, Row: at.Row}
	h.Highlights = spans[1:]
}

// look finds the passage of a chunk, and the words that are sought.
func look(k *db.Chunk, places []chunk.Place, s *passage.Sought) (passage.Span, []passage.Span) {
	var starts []int
	for i, p := range places {
		if p.Row > 0 || i > 0 && parted(k.Content, places[i-1], p) {
			starts = append(starts, p.Offset)
		}
	}
	return s.Find(k.Content, min(places[0].Offset, len(k.Content)), min(k.OverlapBytes, len(k.Content)), starts)
}

// parted tells whether no sentence goes on from a place to the next: it is below another heading, or a page that begins anew. A title without a full stop would otherwise
// be one with the page below, and be cited in its stead.
func parted(text string, a, b chunk.Place) bool {
	if a.Heading != b.Heading {
		return true
	}
	next, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(text[min(b.Offset, len(text)):], unicode.IsSpace))
	return a.Page != b.Page && !unicode.IsLower(next)
}

// quote is the part of a hit that says most of a sentence; its passage where the two share no word.
func (h *Hit) quote(sentence string) string {
	best, words := look(h.Chunk, placesOf(h.Chunk), passage.For(sentence))
	if len(words) == 0 {
		return h.Passage.Content
	}
	return h.Content[best.Start:best.End]
}

// placesOf are those of a chunk; of one from before only its beginning is known, behind a row that is repeated as a header.
func placesOf(k *db.Chunk) []chunk.Place {
	if list := chunk.UnpackPlaces(k.Places); len(list) > 0 {
		return list
	}
	begin := 0
	if k.Row > 1 {
		begin = strings.IndexByte(k.Content[:min(k.OverlapBytes, len(k.Content))], '\n') + 1
	}
	return []chunk.Place{{Offset: begin, Page: k.Page, Heading: k.Heading, Row: k.Row}}
}

// inCharacters counts spans of a text in characters. All but the first one are in order.
func inCharacters(text string, list []passage.Span) []Span {
	spans := make([]Span, len(list))
	at, n := 0, 0
	count := func(to int) int {
		if to < at {
			at, n = 0, 0
		}
		n += utf8.RuneCountInString(text[at:to])
		at = to
		return n
	}
	for i, s := range list {
		spans[i] = Span{count(s.Start), count(s.End)}
	}
	return spans
}
