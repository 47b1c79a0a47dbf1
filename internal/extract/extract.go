// Package extract turns a document (see [Formats]) into clean UTF-8
// text with marks that tell where its pages, heading sections and rows start.
//
// Documents come from strangers, so the work is done by a child process: a [Runner] starts the own
// binary again with [ChildCommand], under a deadline and a memory limit, and reads the text back.
// Whatever the file does to its reader, the platform's own process goes on.
//
// What is wrong with a document is a [Failure], with a sentence for the person who uploaded it.
// Every other error is about the machine, and the work can be tried again.
package extract

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"
)

// Result is the text of a document and where its parts start.
type Result struct {
	// Text is valid UTF-8 with "\n" as line end and no control characters but "\n" and "\t".
	Text string
	// Marks are in the order of their offsets, which strictly increase.
	Marks []Mark
	// Header is the header row of a CSV file as it stands in Text, without its line end. It is empty
	// for other formats, and where the first row looks like data or is longer than a header should be.
	Header string
	// Pages is the number of pages of a PDF or of slides, and 0 for formats that have no fixed pages.
	Pages int
	// SkippedPages is the number of pages of a PDF that could not be read.
	SkippedPages int
}

// Mark says what the text from Offset up to the next mark belongs to. It is the whole state, not a
// change: a field with its zero value says that the text there belongs to no page, heading or row.
type Mark struct {
	// Offset is in bytes, into Result.Text.
	Offset int
	// Page counts from 1.
	Page int
	// Heading is the text of the innermost heading above, and Level how deep it stands: 1 for a title, 2 and more for headings
	// below one; 0 where there is no heading.
	Heading string
	Level   int
	// Row counts the records of a CSV file, or the rows of a sheet, from 1, the header row included, as a spreadsheet shows
	// them. Past the first million rows a mark stands only for every 64 bytes of rows.
	Row int
}

// Limits bound what one document may cost. The zero value of a field stands for its default.
type Limits struct {
	// Text is the size of the extracted text in bytes; 128 MiB by default, so that a text file of
	// the size of a whole context goes through.
	Text int
	// Pages is the number of pages of a PDF; 50,000 by default.
	Pages int
	// Part is the unpacked size in bytes of one part of an archive such as a DOCX file, and of a picture-free DOC
	// stream; 64 MiB by default.
	Part int64
	// Memory is the resident memory of the child in bytes; 1 GiB by default. Only the Runner
	// enforces it.
	Memory int64
	// Time is how long the child may work on one document; 3 minutes by default. Only the Runner
	// enforces it.
	Time time.Duration
}

// The defaults of Limits.
const (
	defaultText   = 128 << 20
	defaultPages  = 50_000
	defaultPart   = 64 << 20
	defaultMemory = 1 << 30
	defaultTime   = 3 * time.Minute
)

func (l Limits) withDefaults() Limits {
	if l.Text <= 0 {
		l.Text = defaultText
	}
	if l.Pages <= 0 {
		l.Pages = defaultPages
	}
	if l.Part <= 0 {
		l.Part = defaultPart
	}
	if l.Memory <= 0 {
		l.Memory = defaultMemory
	}
	if l.Time <= 0 {
		l.Time = defaultTime
	}
	return l
}

// source is an open document.
type source struct {
	file *os.File
	size int64
}

func sourceOf(file *os.File) (source, error) {
	info, err := file.Stat()
	if err != nil {
		return source{}, fmt.Errorf("open the document: %w", err)
	}
	return source{file: file, size: info.Size()}, nil
}

// readAll reads a document that its format needs in one piece, up to max bytes.
func (s source) readAll(max int64) ([]byte, error) {
	if s.size > max {
		return nil, failTooLarge
	}
	data := make([]byte, s.size)
	if _, err := io.ReadFull(io.NewSectionReader(s.file, 0, s.size), data); err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	return data, nil
}

// prepare gives what reading a format needs that is on disk: the engine for PDFs, nil for others. cacheDir
// is the folder of its compilation cache, "" for none. Nothing of a document has been looked at yet.
func prepare(ctx context.Context, format Format, cacheDir string) (*pdfEngine, error) {
	if format != PDF {
		return nil, nil
	}
	return newPDFEngine(ctx, usableCacheDir(cacheDir))
}

// extractOpen reads a document in this process. It trusts nothing in the file, but a hostile one can
// still take time and memory up to the limits: outside the child and tests use a [Runner].
//
// The error is a *[Failure] where the document is at fault; where it has no text, the result tells of the rest. ctx is looked at between
// pages and parts.
func extractOpen(ctx context.Context, file *os.File, format Format, limits Limits, engine *pdfEngine) (*Result, error) {
	src, err := sourceOf(file)
	if err != nil {
		return nil, err
	}
	if src.size == 0 {
		return nil, failEmpty
	}
	result, err := read(ctx, src, format, limits, engine)
	if err != nil {
		return nil, err
	}
	if isBlank(result.Text) {
		return result, noText(format)
	}
	return result, nil
}

func read(ctx context.Context, src source, format Format, limits Limits, engine *pdfEngine) (*Result, error) {
	switch format {
	case PDF:
		return readPDF(ctx, src, limits, engine)
	case DOCX:
		return readDOCX(ctx, src, limits)
	case DOC:
		return readDOC(ctx, src, limits)
	case PPTX:
		return readPPTX(ctx, src, limits)
	case XLSX:
		return readXLSX(ctx, src, limits)
	case ODT:
		return readODT(src, limits)
	case EPUB:
		return readEPUB(ctx, src, limits)
	case HTML:
		return readHTML(src, limits)
	case Text, Markdown, CSV:
		return readPlain(src, format, limits)
	}
	return nil, fmt.Errorf("extract: unknown format %q", format)
}

// noText is the failure of a document that could be read but says nothing.
func noText(format Format) *Failure {
	if format == PDF {
		return failNoTextLayer
	}
	return failNoText
}
