package extract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klippa-app/go-pdfium"
	pdfiumerrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

const (
	// sandboxPages bounds the PDF engine's own memory, in WebAssembly pages of 64 KiB: 256 MiB.
	sandboxPages = 4096
	// maxRestarts is how many pages may break the engine before the document counts as damaged.
	maxRestarts = 20
	// compileWorkers is how many threads compile the engine where no cache holds it.
	compileWorkers = 4
)

// pdfEngine is PDFium inside a WebAssembly sandbox without a file system. A fault in it (out of
// memory, an assertion) ends an instance; another one can be started at once.
type pdfEngine struct{ pool pdfium.Pool }

// newPDFEngine compiles the engine, or takes it from the cache folder ("" for none).
func newPDFEngine(ctx context.Context, cacheDir string) (*pdfEngine, error) {
	config := wazero.NewRuntimeConfig().
		WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling).
		WithMemoryLimitPages(sandboxPages)
	if cacheDir != "" {
		cache, err := wazero.NewCompilationCacheWithDir(cacheDir)
		if err != nil {
			return nil, fmt.Errorf("open the compilation cache: %w", err)
		}
		config = config.WithCompilationCache(cache)
	}
	pool, err := webassembly.Init(webassembly.Config{
		Context:       experimental.WithCompilationWorkers(ctx, compileWorkers),
		MaxTotal:      1,
		FSConfig:      wazero.NewFSConfig(),
		RuntimeConfig: config,
		Stdout:        io.Discard,
		Stderr:        io.Discard,
	})
	if err != nil {
		return nil, fmt.Errorf("start the PDF engine: %w", err)
	}
	return &pdfEngine{pool}, nil
}

func (e *pdfEngine) close() {
	if e != nil {
		_ = e.pool.Close()
	}
}

// usableCacheDir gives dir if compiled code can be kept there, or "": a cache that fails must not
// fail a document.
func usableCacheDir(dir string) string {
	if dir == "" || os.MkdirAll(dir, 0o700) != nil {
		return ""
	}
	probe, err := os.CreateTemp(dir, "probe-*")
	if err != nil {
		return ""
	}
	_ = probe.Close()
	_ = os.Remove(probe.Name())
	return dir
}

// pdfDocument is a PDF open in an instance of the engine.
type pdfDocument struct {
	engine   *pdfEngine
	src      source
	instance pdfium.Pdfium
	doc      references.FPDF_DOCUMENT
	form     *pdfForm // nil where there is none
	formless bool     // the form has broken the engine
}

func (d *pdfDocument) open(ctx context.Context) (err error) {
	if d.instance, err = d.engine.pool.GetInstanceWithContext(ctx); err != nil {
		return fmt.Errorf("start the PDF engine: %w", err)
	}
	opened, err := d.instance.OpenDocument(&requests.OpenDocument{
		FileReader:     io.NewSectionReader(d.src.file, 0, d.src.size),
		FileReaderSize: d.src.size,
	})
	if err != nil {
		return openFailure(err)
	}
	d.doc = opened.Document
	if !d.formless {
		d.openForm()
	}
	return nil
}

// openFailure tells a file that needs a password from one that is no PDF any more.
func openFailure(err error) error {
	if errors.Is(err, pdfiumerrors.ErrPassword) || errors.Is(err, pdfiumerrors.ErrSecurity) {
		return failPDFEncrypted
	}
	return failDamaged
}

func (d *pdfDocument) close() {
	if d.instance != nil {
		_ = d.instance.Close()
	}
}

func (d *pdfDocument) pages() (int, error) {
	count, err := d.instance.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: d.doc})
	if err != nil {
		return 0, failDamaged
	}
	return count.PageCount, nil
}

// text reads a page, counted from 0, and what was filled in on it. err says that the page could not be read; a fault of the
// engine is told apart by broken, after which the document must be opened anew.
func (d *pdfDocument) text(page int) (text, filled string, broken bool, err error) {
	if text, err = d.pageText(page); err != nil {
		return "", "", !errors.Is(err, pdfiumerrors.ErrPage), err
	}
	filled, faulty := d.formValues(page)
	d.formless = d.formless || faulty != nil
	return text, filled, faulty != nil, nil
}

func (d *pdfDocument) pageText(page int) (string, error) {
	loaded, err := d.instance.FPDFText_LoadPage(&requests.FPDFText_LoadPage{
		Page: requests.Page{ByIndex: &requests.PageByIndex{Document: d.doc, Index: page}},
	})
	if err != nil {
		return "", err
	}
	chars, err := d.instance.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: loaded.TextPage})
	if err != nil {
		return "", err
	}
	text := ""
	if chars.Count > 0 {
		got, err := d.instance.FPDFText_GetText(&requests.FPDFText_GetText{TextPage: loaded.TextPage, Count: chars.Count})
		if err != nil {
			return "", err
		}
		text = d.tables(loaded.TextPage, got.Text, chars.Count)
	}
	_, err = d.instance.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: loaded.TextPage})
	return text, err
}

// readPDF takes the text layer of every page. A page that can't be read does not fail the document.
func readPDF(ctx context.Context, src source, limits Limits, engine *pdfEngine) (*Result, error) {
	doc := &pdfDocument{engine: engine, src: src}
	defer doc.close()
	if err := doc.open(ctx); err != nil {
		return nil, err
	}
	count, err := doc.pages()
	switch {
	case err != nil:
		return nil, err
	case count > limits.Pages:
		return nil, failPages
	}
	b := newTextBuilder(limits)
	skipped, err := readPages(ctx, doc, count, b)
	switch {
	case err != nil:
		return nil, err
	case count == 0, skipped == count:
		return nil, failDamaged
	}
	result, err := b.result()
	if err != nil {
		return nil, err
	}
	result.Pages, result.SkippedPages = count, skipped
	return result, nil
}

// readPages writes the pages' text, with a mark for each page and each heading of the outline, and counts those that could not be read.
func readPages(ctx context.Context, doc *pdfDocument, count int, b *textBuilder) (skipped int, err error) {
	h := &headings{entries: doc.outline()}
	pages, unread, err := pageTexts(ctx, doc, count, b.limit)
	if err != nil {
		return 0, err
	}
	cut := newHyphens(pages)
	for page, text := range pages {
		if pages[page] = ""; !unread[page] {
			h.write(b, page, cleanPage(cut.mend(text)))
		}
	}
	if b.full {
		return 0, failTooLarge
	}
	return len(unread), nil
}

// pageTexts reads all pages, as the words of the whole document say which hyphens at line ends stay. unread are the pages that can't be read.
func pageTexts(ctx context.Context, doc *pdfDocument, count, limit int) (pages []string, unread map[int]bool, err error) {
	unread = map[int]bool{}
	restarts, size := 0, 0
	for page := range count {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		text, filled, broken, err := doc.text(page)
		if broken {
			if restarts++; restarts > maxRestarts {
				return nil, nil, failDamaged
			}
			doc.close()
			if err := doc.open(ctx); err != nil {
				return nil, nil, err
			}
		}
		if err != nil {
			unread[page] = true
		}
		text = pageNoise.Replace(text)
		if filled != "" {
			text = strings.TrimRight(text, "\n") + "\n\n" + filled
		}
		if size += len(text); size > limit {
			return nil, nil, failTooLarge
		}
		pages = append(pages, text)
	}
	return pages, unread, nil
}

// cleanPage is a page's text without what stands around it.
func cleanPage(s string) string { return strings.TrimSpace(clean(s)) }

// pageNoise takes away the spaces at line ends, and gives each hyphen that cuts a word the one form of cutHyphen.
var pageNoise = strings.NewReplacer(engineHyphen+"\r\n", "\x02", engineHyphen, "\x02", "\x02\r\n", "\x02", " \r\n", "\n")

// engineHyphen is what the engine gives for a hyphen that cuts a word at a line's end.
const engineHyphen = "\ufffe"
