// Package chunk cuts a document's text into chunks of a bounded number of tokens, in one pass and
// in time linear in the text, whatever the text is. Tokens are those of cl100k_base, the encoding
// by which the usual embedding models are limited.
//
// A chunk ends at the strongest border in the second half of its room: a heading or a page, a
// table row, a blank line, the end of a sentence, a line, a space, and where there is none of
// them, between two characters.
package chunk

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"canopy/internal/cl100k"
)

// MinSize is the smallest size of a chunk, in tokens, that can be asked for: room for a character
// of any script beside a repeated header.
const MinSize = 16

// maxOverlap is the part of a chunk that overlaps can take at most. A larger overlap is legal and
// acts as this one, so that every chunk brings new text and the whole grows at most sixteenfold.
const maxOverlap = 0.875

// tokenRoom is how many bytes a chunk may have for each token of its size. Text has about four; a token of white space or of dashes up to
// 128, and a chunk of such would be as long as a book.
const tokenRoom = 16

// Errors of All, told apart with errors.Is.
var (
	ErrOptions = errors.New("chunk: bad options")
	ErrUTF8    = errors.New("chunk: the text is not valid UTF-8")
	ErrMarks   = errors.New("chunk: marks must be in the order of their offsets, within the text")
)

// Mark says what the text from a byte offset up to the next mark belongs to: a page, a section, or
// with Row above 0 a table row. It is the whole state but for rows, which end only with the next row.
type Mark struct {
	Offset  int // in bytes
	Page    int // counted from 1
	Heading string
	Level   int // of the heading, from 1 on the top
	Row     int // counted from 1

	path string // of headings, from the top to this one
}

// Place says what the content of a chunk belongs to from an offset up to the next place.
type Place struct {
	Offset  int    // in bytes, into Content
	Page    int    // counted from 1; 0 where there are none
	Heading string // the headings above, from the top, joined by PathMark
	Row     int    // counted from 1; 0 where there are none
}

// PathMark stands between the headings of a path.
const PathMark = " > "

// Options of a split.
type Options struct {
	Size    int     // tokens in a chunk at most, its overlap and the repeated header included
	Overlap float64 // part of Size that a chunk repeats from the one before, 0 to 1
	// Header is repeated at the top of every chunk but those that begin with it by themselves. It
	// counts towards Size and is cut to half of it.
	Header string
}

// Chunk is one piece of the text.
type Chunk struct {
	// Content is what to embed and show: OverlapBytes bytes that earlier chunks hold too (the
	// header, then the overlap), then the chunk's own part.
	Content string
	// Start and End are the byte offsets of the own part: Content[OverlapBytes:] is text[Start:End],
	// and the own parts of all chunks in order are the text.
	Start, End   int
	OverlapBytes int
	Tokens       int // of Content, exactly
	// Page, Heading and Row are those in force at the first word of the own part; zero when unknown.
	Page    int
	Heading string
	Row     int
	// Places are those in Content, in order; none where nothing is known. What stands before the first one is a repeated header.
	Places []Place
}

// maxAbove is how long the headings are together that are embedded with a chunk, in bytes.
const maxAbove = 400

// Titled is what to embed: the content below the headings that it stands under.
func (c Chunk) Titled() string { return c.Above() + c.Content }

// Above gives the headings that the content stands under and does not itself have, from the top.
func (c Chunk) Above() string {
	if len(c.Places) == 0 || c.Places[0].Heading == "" {
		return ""
	}
	var above strings.Builder
	for heading := range strings.SplitSeq(c.Places[0].Heading, PathMark) {
		if above.Len()+len(heading) <= maxAbove && !strings.Contains(c.Content, heading) {
			above.WriteString(heading + "\n")
		}
	}
	return above.String()
}

// Blank tells whether the chunk's own part is white space alone. Such chunks keep the sequence
// complete; there is nothing in them to embed.
func (c Chunk) Blank() bool {
	return strings.TrimSpace(c.Content[c.OverlapBytes:]) == ""
}

// All yields the chunks of a text in order, and then at most one error: ErrOptions, ErrUTF8, ErrMarks,
// that of the reader or the marks, or the tokenizer's. It holds a part of the text and its marks that
// depends on the size of chunks alone.
func All(text io.Reader, marks iter.Seq2[Mark, error], opts Options) iter.Seq2[Chunk, error] {
	return all(text, marks, opts, step)
}

func all(text io.Reader, marks iter.Seq2[Mark, error], opts Options, step int) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		next, stop := iter.Pull2(marks)
		defer stop()
		s, err := newSplitter(text, next, opts, step)
		if err != nil {
			yield(Chunk{}, err)
			return
		}
		s.run(yield)
	}
}

func check(opts Options) error {
	switch {
	case opts.Size < MinSize:
		return fmt.Errorf("%w: size %d is below %d tokens", ErrOptions, opts.Size, MinSize)
	case !(opts.Overlap >= 0 && opts.Overlap <= 1): // also refuses NaN
		return fmt.Errorf("%w: overlap %v is not within 0 and 1", ErrOptions, opts.Overlap)
	case !utf8.ValidString(opts.Header):
		return ErrUTF8
	}
	return nil
}

// splitter is one run over a text. Its offsets are into the part that is at hand.
type splitter struct {
	source
	size    int // tokens of a chunk
	overlap int // tokens of an overlap at most
	tokens  *window
	outline *outline

	header       string // with its line break; empty for none
	headerTokens int
	native       int // end of the header and its line break where the text begins with it, otherwise 0
}

func newSplitter(text io.Reader, marks func() (Mark, error, bool), opts Options, step int) (*splitter, error) {
	if err := check(opts); err != nil {
		return nil, err
	}
	encoder, err := cl100k.Load()
	if err != nil {
		return nil, fmt.Errorf("chunk: %w", err)
	}
	s := &splitter{
		// A chunk, one token more, the segment that this takes, and a look at what follows.
		source:  source{r: text, step: step, need: (opts.Size+2)*cl100k.MaxToken + segment + stretch + 2*lookBack},
		size:    opts.Size,
		overlap: int(min(opts.Overlap, maxOverlap) * float64(opts.Size)),
		tokens:  &window{encoder: encoder},
	}
	if s.outline, err = newOutline(marks); err != nil {
		return nil, err
	}
	if _, err := s.refill(0); err != nil {
		return nil, err
	}
	s.setHeader(opts.Header)
	return s, nil
}

// refill has as much of the text at hand as a chunk takes that begins at an offset, and tells by how
// much offsets are less from now on.
func (s *splitter) refill(from int) (moved int, err error) {
	if !s.short(from) {
		return 0, nil
	}
	if moved, err = s.more(from); err != nil {
		return 0, err
	}
	s.tokens.move(s.text, moved)
	s.native = max(0, s.native-moved)
	s.outline.move(moved)
	if err := s.outline.load(s.text, s.base); err != nil {
		return 0, err
	}
	if s.ended && s.outline.more {
		return 0, ErrMarks
	}
	return moved, nil
}

func (s *splitter) setHeader(header string) {
	if strings.TrimSpace(header) == "" {
		return
	}
	header = strings.TrimRight(header, "\r\n")
	if rest, ok := strings.CutPrefix(s.text, header); ok {
		if line := strings.TrimLeft(rest, "\r\n"); rest == "" || len(line) < len(rest) {
			s.native = len(s.text) - len(line)
		}
	}
	s.header = truncate(s.tokens.encoder, header, s.size/2-1) + "\n"
	s.headerTokens = s.tokens.encoder.Count(s.header)
}

func (s *splitter) run(yield func(Chunk, error) bool) {
	from, start := 0, 0 // where the content and where its own part begins
	for start < len(s.text) {
		c := s.next(from, start)
		end := c.End
		c.Start, c.End = c.Start+s.base, c.End+s.base
		if !yield(c, nil) {
			return
		}
		from, start = s.overlapStart(from, end), end
		moved, err := s.refill(from)
		if err != nil {
			yield(Chunk{}, err)
			return
		}
		from, start = from-moved, start-moved
	}
}

// next cuts the chunk whose own part begins at start. It gives up the overlap, then the header,
// where they leave no room for even one character.
func (s *splitter) next(from, start int) Chunk {
	header, headerTokens := s.header, s.headerTokens
	if from < s.native {
		header, headerTokens = "", 0
	}
	for {
		end, tokens := s.cut(from, start, header, headerTokens)
		switch {
		case end > start:
			return s.chunk(from, start, end, header, tokens)
		case from < start:
			from = start
		default:
			header, headerTokens = "", 0
		}
	}
}

// cut finds the end of a chunk and counts its tokens; an end of start says that nothing fits.
func (s *splitter) cut(from, start int, header string, headerTokens int) (end, tokens int) {
	budget := s.size - headerTokens
	s.tokens.fill(from, budget+1)
	room := budget - s.tokens.between(from, start)
	low := s.tokens.reach(start, room/2)
	for budget > 0 {
		limit := s.tokens.reach(from, budget)
		if most := runeStart(s.text, from+s.size*tokenRoom); limit > most {
			limit, low = most, min(low, runeStart(s.text, (start+most)/2))
		}
		if limit <= start {
			break
		}
		end = limit
		if limit < len(s.text) {
			end = s.strongest(min(low, limit-1), limit)
		}
		if tokens = s.tokens.exact(header, from, end); tokens <= s.size {
			return end, tokens
		}
		budget -= tokens - s.size
	}
	return start, 0
}

// strongest returns the strongest border in (low, high], the last one of several.
func (s *splitter) strongest(low, high int) int {
	if p, ok := s.outline.latest(low, high); ok {
		return p
	}
	best, at := levelNone, 0
	for p := high; p > low && best < levelParagraph; p-- {
		if l := level(s.text, p); l > best {
			best, at = l, p
		}
	}
	if best > levelNone {
		return at
	}
	return lastCharacter(s.text, low, high)
}

// overlapStart returns where the content of the chunk after end begins: at the strongest border in
// the farther half of the overlap, the first one of several.
func (s *splitter) overlapStart(from, end int) int {
	if s.overlap == 0 || end == len(s.text) {
		return end
	}
	floor := from
	if s.native <= end {
		floor = max(floor, s.native) // the header is repeated whole or not at all
	}
	low := max(floor, s.tokens.back(end, s.overlap), runeStart(s.text, end-s.overlap*tokenRoom))
	high := max(low, s.tokens.back(end, s.overlap/2))
	if p, ok := s.outline.first(low, high); ok {
		return p
	}
	best, at := levelNone, lastCharacter(s.text, floor, low)
	for p := max(low, 1); p <= high && best < levelParagraph; p++ {
		if l := level(s.text, p); l > best {
			best, at = l, p
		}
	}
	return at
}

func (s *splitter) chunk(from, start, end int, header string, tokens int) Chunk {
	c := Chunk{
		Content:      s.text[from:end],
		Start:        start,
		End:          end,
		OverlapBytes: len(header) + start - from,
		Tokens:       tokens,
	}
	if header != "" {
		c.Content = header + c.Content
	}
	word := strings.IndexFunc(s.text[start:end], func(r rune) bool { return !unicode.IsSpace(r) })
	c.Page, c.Heading, c.Row = s.outline.at(start + max(word, 0))
	c.Places = s.outline.places(from, end, len(header))
	return c
}
