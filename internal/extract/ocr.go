package extract

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// The bounds of what is recognised in the pictures of one document.
const (
	recognitionTime = time.Hour        // of all pages: those that are left then stay without text
	pageTime        = time.Minute      // of one page
	maxScans        = 2_000            // pages
	maxPicture      = 16_000_000       // pixels of a page
	pictureDPI      = 300              // of a page that has no more pixels than that
	maxRecognised   = 1 << 20          // bytes of text on a page
	askTesseract    = 10 * time.Second // for its languages
)

// OCR recognises text in pictures by Tesseract (https://tesseract-ocr.github.io/).
type OCR struct {
	program   string
	languages string
}

// FindTesseract looks for the program, and for the models of these languages ("eng+deu").
func FindTesseract(ctx context.Context, languages string) (*OCR, error) {
	path, err := exec.LookPath("tesseract")
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return nil, errors.New("the program tesseract is not installed")
	}
	ctx, cancel := context.WithTimeout(ctx, askTesseract)
	defer cancel()
	list, err := exec.CommandContext(ctx, path, "--list-langs").Output()
	if err != nil {
		return nil, fmt.Errorf("ask %s for its languages: %w", path, err)
	}
	known := strings.Fields(string(list))
	for language := range strings.SplitSeq(languages, "+") {
		if !slices.Contains(known, language) {
			return nil, fmt.Errorf("%s has no model of the language %q", path, language)
		}
	}
	return &OCR{path, languages}, nil
}

// Languages are those that are recognised, as Tesseract is told them.
func (o *OCR) Languages() string { return o.languages }

// recognise reads the pages of a PDF that have no text, one after the other, and gives the document with what is on them. A page that can't
// be read stays without text. told hears which part of them is done.
func (r *Runner) recognise(ctx context.Context, file *os.File, d *Document, told func(float64)) (*Document, error) {
	pages, err := blankPages(d)
	if err != nil || len(pages) == 0 {
		return d, err
	}
	until := time.Now().Add(recognitionTime)
	texts := map[int]string{}
	for i, page := range pages {
		if time.Now().After(until) {
			break
		}
		text, err := r.recognisePage(ctx, file, page)
		switch {
		case err == nil:
			texts[page] = text
		case !isFailure(err):
			return d, err
		}
		told(float64(i+1) / float64(len(pages)))
	}
	return d.withPages(mendScans(pages, texts))
}

// blankPages are the pages that have no text, and so no mark.
func blankPages(d *Document) (pages []int, err error) {
	next := 1
	add := func(before int) {
		for ; next < before && len(pages) < maxScans; next++ {
			pages = append(pages, next)
		}
	}
	for m, err := range d.Marks() {
		if err != nil {
			return nil, err
		}
		if m.Page > 0 {
			add(m.Page)
			next = max(next, m.Page+1)
		}
	}
	add(d.Pages + 1)
	return pages, nil
}

// recognisePage has one child draw a page, and another read what it has drawn.
func (r *Runner) recognisePage(ctx context.Context, file *os.File, page int) (text string, err error) {
	var p *picture
	limits := r.limits
	limits.Time = min(limits.Time, pageTime)
	err = r.run(ctx, job{Format: PDF, Limits: limits, CacheDir: r.cacheDir, Page: page}, file, func(out io.Reader) (err error) {
		p, err = readPicture(out)
		return err
	})
	if err != nil {
		return "", err
	}
	work := job{Limits: limits, Recognise: &recognition{r.ocr.program, r.ocr.languages, p.dpi}}
	err = r.run(ctx, work, p.pgm(), func(out io.Reader) (err error) {
		text, err = readRecognised(out)
		return err
	})
	return text, err
}

// readRecognised takes what Tesseract writes.
func readRecognised(out io.Reader) (string, error) {
	text, err := io.ReadAll(io.LimitReader(out, maxRecognised+1))
	if err != nil || len(text) > maxRecognised || !utf8.Valid(text) {
		return "", errProtocol
	}
	return cleanPage(string(text)), nil
}

// cutWord is a hyphen that cuts a word at a line's end.
var cutWord = regexp.MustCompile(`(\pL)[-\x{2010}]\n(\pL)`)

// mendScans puts the words together that line ends have cut.
func mendScans(pages []int, texts map[int]string) map[int]string {
	var list []string
	for _, page := range pages {
		if text := texts[page]; text != "" {
			texts[page] = cutWord.ReplaceAllString(text, "${1}"+string(cutHyphen)+"${2}")
			list = append(list, texts[page])
		}
	}
	cut := newHyphens(list)
	for page, text := range texts {
		texts[page] = cut.mend(text)
	}
	return texts
}

// withPages gives the document with the text of further pages in their places, and closes what it was. Of no text at all it is a Failure.
func (d *Document) withPages(texts map[int]string) (*Document, error) {
	out, err := newDocument()
	if err != nil {
		return d, err
	}
	w := &pageMixer{out: out, in: bufio.NewReaderSize(d.Text(), 64<<10), to: bufio.NewWriterSize(out.file, 64<<10), texts: texts}
	if err = w.mix(d); err == nil && w.written == 0 {
		err = failNoTextLayer
	}
	if err != nil {
		return d, errors.Join(err, out.Close())
	}
	return out, d.Close()
}

// pageMixer writes a document's text with further pages, and then its marks.
type pageMixer struct {
	out     *Document
	in      io.Reader
	to      *bufio.Writer
	texts   map[int]string
	written int
	read    int
	page    int  // the last that was begun
	now     Mark // the last of the document's own
	marks   []Mark
}

func (w *pageMixer) mix(d *Document) error {
	for m, err := range d.Marks() {
		if err != nil {
			return err
		}
		if err := w.copyTo(m.Offset); err != nil {
			return err
		}
		if err := w.between(m.Page); err != nil {
			return err
		}
		w.now, w.page = m, max(w.page, m.Page)
		m.Offset = w.written
		w.marks = append(w.marks, m)
	}
	if err := w.copyTo(d.Size); err != nil {
		return err
	}
	if err := w.between(d.Pages + 1); err != nil {
		return err
	}
	at := 0
	for _, m := range w.marks {
		writeMark(w.to, m, at)
		at = m.Offset
	}
	if err := w.to.Flush(); err != nil {
		return fmt.Errorf("extract: %w", err)
	}
	w.out.Size, w.out.Pages, w.out.SkippedPages, w.out.marks = w.written, d.Pages, d.SkippedPages, len(w.marks)
	var err error
	w.out.end, err = w.out.file.Seek(0, io.SeekCurrent)
	return err
}

// copyTo copies the document's own text up to an offset.
func (w *pageMixer) copyTo(offset int) error {
	n, err := io.CopyN(w.to, w.in, int64(offset-w.read))
	w.read += int(n)
	w.written += int(n)
	return err
}

// between writes the further pages that come before one. They are below the heading that was the last.
func (w *pageMixer) between(page int) error {
	for ; w.page+1 < page; w.page++ {
		text := w.texts[w.page+1]
		if text == "" {
			continue
		}
		w.marks = append(w.marks, Mark{Offset: w.written, Page: w.page + 1, Heading: w.now.Heading, Level: w.now.Level})
		n, err := io.WriteString(w.to, text+"\n")
		w.written += n
		if err != nil {
			return err
		}
	}
	return nil
}
