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
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind tells which structure of the text makes borders, beside its marks.
type Kind int

// The kinds of text.
const (
	Plain    Kind = iota
	Markdown      // ATX headings outside of code fences, where no mark carries a heading
	CSV           // records, where no mark carries a row; a line break in quotes is not one (RFC 4180)
)

// MinSize is the smallest size of a chunk, in tokens, that can be asked for: room for a character
// of any script beside a repeated header.
const MinSize = 16

// maxOverlap is the part of a chunk that overlaps can take at most. A larger overlap is legal and
// acts as this one, so that every chunk brings new text and the whole grows at most sixteenfold.
const maxOverlap = 0.875

// Errors of Split, told apart with errors.Is.
var (
	ErrOptions = errors.New("chunk: bad options")
	ErrUTF8    = errors.New("chunk: the text is not valid UTF-8")
	ErrMarks   = errors.New("chunk: marks must be in the order of their offsets, within the text")
)

// Mark says what begins at a byte offset of the text: a page, a section, or with Row above 0 a
// table row. What a mark leaves at its zero value stays as the marks before it had it.
type Mark struct {
	Offset  int // in bytes
	Page    int // counted from 1
	Heading string
	Row     int // counted from 1
}

// Options of a split.
type Options struct {
	Size    int     // tokens in a chunk at most, its overlap and the repeated header included
	Overlap float64 // part of Size that a chunk repeats from the one before, 0 to 1
	Kind    Kind
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
}

// Blank tells whether the chunk's own part is white space alone. Such chunks keep the sequence
// complete; there is nothing in them to embed.
func (c Chunk) Blank() bool {
	return strings.TrimSpace(c.Content[c.OverlapBytes:]) == ""
}

// Split returns all chunks of a text in order; none for a text of white space alone.
// See All, which holds only one chunk at a time.
func Split(text string, marks []Mark, opts Options) ([]Chunk, error) {
	var chunks []Chunk
	for c, err := range All(text, marks, opts) {
		if err != nil {
			return nil, err
		}
		chunks = append(chunks, c)
	}
	return chunks, nil
}

// All yields the chunks of a text in order, or one error: ErrOptions, ErrUTF8, ErrMarks, or that of
// the tokenizer. Beside the text it holds the token borders of some 20 KiB and one chunk of it.
func All(text string, marks []Mark, opts Options) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		if err := check(text, marks, opts); err != nil {
			yield(Chunk{}, err)
			return
		}
		if strings.TrimSpace(text) == "" {
			return
		}
		s, err := newSplitter(text, marks, opts)
		if err != nil {
			yield(Chunk{}, err)
			return
		}
		s.run(yield)
	}
}

func check(text string, marks []Mark, opts Options) error {
	switch {
	case opts.Size < MinSize:
		return fmt.Errorf("%w: size %d is below %d tokens", ErrOptions, opts.Size, MinSize)
	case !(opts.Overlap >= 0 && opts.Overlap <= 1): // also refuses NaN
		return fmt.Errorf("%w: overlap %v is not within 0 and 1", ErrOptions, opts.Overlap)
	case !utf8.ValidString(text), !utf8.ValidString(opts.Header):
		return ErrUTF8
	}
	last := 0
	for _, m := range marks {
		if m.Offset < last || m.Offset > len(text) {
			return ErrMarks
		}
		last = m.Offset
	}
	return nil
}

// splitter is one run over a text.
type splitter struct {
	text    string
	size    int // tokens of a chunk
	overlap int // tokens of an overlap at most
	tokens  *window
	outline outline

	header       string // with its line break; empty for none
	headerTokens int
	native       int // length of the header and its line break where the text begins with it, otherwise 0
}

func newSplitter(text string, marks []Mark, opts Options) (*splitter, error) {
	tokens, err := newWindow(text)
	if err != nil {
		return nil, err
	}
	s := &splitter{
		text:    text,
		size:    opts.Size,
		overlap: int(min(opts.Overlap, maxOverlap) * float64(opts.Size)),
		tokens:  tokens,
		outline: newOutline(text, marks, opts.Kind),
	}
	return s, s.setHeader(opts.Header)
}

func (s *splitter) setHeader(header string) error {
	if strings.TrimSpace(header) == "" {
		return nil
	}
	header = strings.TrimRight(header, "\r\n")
	if rest, ok := strings.CutPrefix(s.text, header); ok {
		if line := strings.TrimLeft(rest, "\r\n"); rest == "" || len(line) < len(rest) {
			s.native = len(s.text) - len(line)
		}
	}
	header, err := truncate(header, s.size/2-1)
	if err != nil {
		return err
	}
	s.header = header + "\n"
	s.headerTokens, err = count(s.header)
	return err
}

func (s *splitter) run(yield func(Chunk, error) bool) {
	from, start := 0, 0 // where the content and where its own part begins
	for start < len(s.text) {
		c, err := s.next(from, start)
		if !yield(c, err) || err != nil {
			return
		}
		from, start = s.overlapStart(from, c.End), c.End
	}
}

// next cuts the chunk whose own part begins at start. It gives up the overlap, then the header,
// where they leave no room for even one character.
func (s *splitter) next(from, start int) (Chunk, error) {
	header, headerTokens := s.header, s.headerTokens
	if from < s.native {
		header, headerTokens = "", 0
	}
	for {
		end, tokens, err := s.cut(from, start, header, headerTokens)
		switch {
		case err != nil:
			return Chunk{}, err
		case end > start:
			return s.chunk(from, start, end, header, tokens), nil
		case from < start:
			from = start
		default:
			header, headerTokens = "", 0
		}
	}
}

// cut finds the end of a chunk and counts its tokens; an end of start says that nothing fits.
func (s *splitter) cut(from, start int, header string, headerTokens int) (end, tokens int, err error) {
	budget := s.size - headerTokens
	if err := s.tokens.fill(from, budget+1); err != nil {
		return 0, 0, err
	}
	room := budget - s.tokens.between(from, start)
	low := s.tokens.reach(start, room/2)
	for budget > 0 {
		limit := s.tokens.reach(from, budget)
		if limit <= start {
			break
		}
		end = limit
		if limit < len(s.text) {
			end = s.strongest(min(low, limit-1), limit)
		}
		if tokens, err = s.tokens.exact(header, from, end); err != nil {
			return 0, 0, err
		}
		if tokens <= s.size {
			return end, tokens, nil
		}
		budget -= tokens - s.size
	}
	return start, 0, nil
}

// strongest returns the strongest border in (low, high], the last one of several.
func (s *splitter) strongest(low, high int) int {
	if p, ok := s.outline.last(low, high); ok {
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
	low := max(floor, s.tokens.back(end, s.overlap))
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
	return c
}
