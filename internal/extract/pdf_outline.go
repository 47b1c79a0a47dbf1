package extract

import (
	"slices"
	"strings"

	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/responses"
)

// The bounds of a PDF's outline that is read: entries, and levels. In a file they can lead back to each other.
const (
	maxOutline = 10_000
	maxNesting = 64
)

// outlineEntry is a heading by the outline of a PDF.
type outlineEntry struct {
	title string
	level int
	page  int // counted from 0
}

// outline gives the entries that lead to a page, in the order of the pages, and on a page in their own. One that is beyond the
// bounds, or can't be read, is none.
func (d *pdfDocument) outline() (list []outlineEntry) {
	if left := maxOutline; !d.ends(nil, maxNesting, &left) {
		return nil
	}
	read, err := d.instance.GetBookmarks(&requests.GetBookmarks{Document: d.doc})
	if err != nil {
		return nil
	}
	list = entries(nil, read.Bookmarks, 1)
	slices.SortStableFunc(list, func(a, b outlineEntry) int { return a.page - b.page })
	return list
}

// ends tells whether what stands below an entry, or with none the whole outline, ends within so many levels and entries. The engine
// itself follows it without an end.
func (d *pdfDocument) ends(parent *references.FPDF_BOOKMARK, levels int, left *int) bool {
	child, err := d.instance.FPDFBookmark_GetFirstChild(&requests.FPDFBookmark_GetFirstChild{Document: d.doc, Bookmark: parent})
	if err != nil {
		return false
	}
	for at := child.Bookmark; at != nil; {
		if *left--; levels == 0 || *left < 0 || !d.ends(at, levels-1, left) {
			return false
		}
		next, err := d.instance.FPDFBookmark_GetNextSibling(&requests.FPDFBookmark_GetNextSibling{Document: d.doc, Bookmark: *at})
		if err != nil {
			return false
		}
		at = next.Bookmark
	}
	return true
}

func entries(list []outlineEntry, read []responses.GetBookmarksBookmark, level int) []outlineEntry {
	for _, one := range read {
		title := shortHeading(clean(strings.ToValidUTF8(one.Title, "")))
		if to := one.DestInfo; to != nil && to.PageIndex >= 0 && title != "" {
			list = append(list, outlineEntry{title, min(level, maxLevel), to.PageIndex})
		}
		list = entries(list, one.Children, level+1)
	}
	return list
}

// headings places the entries of an outline in the texts of the pages.
type headings struct {
	entries []outlineEntry
	now     Mark
}

// write writes a page's text with the marks of its headings: each where a line has its title, or else where the one before it
// begins.
func (h *headings) write(b *textBuilder, page int, text string) {
	h.now.Page = page + 1
	h.now.Offset = b.len()
	b.mark(h.now)
	lower, from := strings.ToLower(text), 0
	for ; len(h.entries) > 0 && h.entries[0].page <= page; h.entries = h.entries[1:] {
		e := h.entries[0]
		from = lineOf(lower, strings.ToLower(e.title), from)
		h.now.Offset, h.now.Heading, h.now.Level = b.len()+min(from, len(text)), e.title, e.level
		b.mark(h.now)
	}
	b.write(text)
	b.newline()
}

// lineOf gives where the line begins, from an offset on, that has a title, which can go on in the next line; the offset itself
// where there is none.
func lineOf(text, title string, from int) int {
	for at := from; at < len(text); {
		line, next := cutLine(text, at)
		more, _ := cutLine(text, next)
		if i := strings.Index(strings.Join(strings.Fields(line+" "+more), " "), title); i >= 0 && i < max(1, len(line)) {
			return at
		}
		at = next
	}
	return from
}
