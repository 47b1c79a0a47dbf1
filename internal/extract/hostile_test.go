package extract

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// hostileLimits are what the tests let a hostile document cost.
var hostileLimits = Limits{Memory: 768 << 20, Time: 20 * time.Second, Part: 16 << 20}

const (
	wordRoot = `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>`
	wordEnd  = `</w:body></w:document>`
)

// zipOf makes a DOCX whose main part is written by body.
func zipOf(t testing.TB, body func(io.Writer)) []byte {
	t.Helper()
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	part, err := archive.Create("word/document.xml")
	if err != nil {
		t.Fatal(err)
	}
	body(part)
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func docxWith(t testing.TB, xml string) []byte {
	return zipOf(t, func(w io.Writer) { _, _ = io.WriteString(w, xml) })
}

func repeat(w io.Writer, s string, bytes int) {
	block := strings.Repeat(s, max(1, (1<<16)/len(s)))
	for n := 0; n < bytes; n += len(block) {
		_, _ = io.WriteString(w, block)
	}
}

func TestHostileDOCX(t *testing.T) {
	bomb := func(s string, size int) func(io.Writer) {
		return func(w io.Writer) {
			_, _ = io.WriteString(w, wordRoot+"<w:p><w:r><w:t>")
			repeat(w, s, size)
		}
	}
	for name, test := range map[string]struct {
		data []byte
		want []Reason
	}{
		"zip bomb":        {zipOf(t, bomb("a ", 40<<20)), []Reason{ReasonTooLarge}},
		"element bomb":    {zipOf(t, bomb("</w:t><w:t>x", 20<<20)), []Reason{ReasonTooLarge, ReasonMemory}},
		"attribute bomb":  {zipOf(t, func(w io.Writer) { _, _ = io.WriteString(w, wordRoot+"<w:p "); repeat(w, `a="" `, 15<<20) }), []Reason{ReasonDamaged, ReasonMemory, ReasonTooLarge}},
		"entity bomb":     {docxWith(t, `<!DOCTYPE d [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;&a;">]>`+wordRoot+"<w:p><w:r><w:t>&b;</w:t></w:r></w:p>"+wordEnd), []Reason{ReasonDamaged}},
		"external entity": {docxWith(t, `<!DOCTYPE d [<!ENTITY a SYSTEM "file:///etc/passwd">]>`+wordRoot+"<w:p><w:r><w:t>&a;</w:t></w:r></w:p>"+wordEnd), []Reason{ReasonDamaged}},
		"deep nesting":    {docxWith(t, wordRoot+strings.Repeat("<w:tbl><w:tr><w:tc>", 100_000)), []Reason{ReasonDamaged}},
		"not closed":      {docxWith(t, wordRoot+"<w:p><w:r><w:t>half a"), []Reason{ReasonDamaged}},
		"no main part":    {emptyZip(t, 1), []Reason{ReasonContent}},
		"many entries":    {emptyZip(t, maxEntries+1), []Reason{ReasonTooLarge}},
		"no text":         {docxWith(t, wordRoot+"<w:p/>"+wordEnd), []Reason{ReasonNoText}},
		"cut archive":     {cut(t, "report.docx", 0.7), []Reason{ReasonDamaged}},
	} {
		t.Run(name, func(t *testing.T) { wantOneOf(t, test.data, DOCX, test.want...) })
	}
}

func emptyZip(t testing.TB, entries int) []byte {
	t.Helper()
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for i := range entries {
		if _, err := archive.Create(fmt.Sprintf("word/media/%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// cut is the leading part of a sample file.
func cut(t testing.TB, file string, share float64) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	return data[:int(float64(len(data))*share)]
}

// wantOneOf reads a hostile document through a child and expects a Failure of one of the reasons,
// by the deadline.
func wantOneOf(t *testing.T, data []byte, format Format, reasons ...Reason) {
	t.Helper()
	start := time.Now()
	_, err := testRunner(hostileLimits).Extract(t.Context(), writeFile(t, "hostile", string(data)), format, nil)
	if took := time.Since(start); took > hostileLimits.Time+10*time.Second { // a busy machine needs a while to end a child
		t.Errorf("took %v", took)
	}
	for _, reason := range reasons {
		if errors.Is(err, &Failure{Reason: reason}) {
			wantReason(t, err, reason)
			return
		}
	}
	t.Errorf("error = %v, want one of %v", err, reasons)
}

// pdfOf makes a PDF of objects 1, 2, 3 …; object 1 is the catalog.
func pdfOf(objects ...string) []byte {
	var out bytes.Buffer
	out.WriteString("%PDF-1.7\n")
	at := make([]int, len(objects))
	for i, object := range objects {
		at[i] = out.Len()
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	start := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, offset := range at {
		fmt.Fprintf(&out, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&out, "trailer\n<</Size %d /Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, start)
	return out.Bytes()
}

const (
	pdfCatalog = "<</Type /Catalog /Pages 2 0 R>>"
	pdfFont    = "<</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>"
)

func stream(content string) string {
	return fmt.Sprintf("<</Length %d>>\nstream\n%s\nendstream", len(content), content)
}

// deflated is a stream that unpacks to a head and size bytes of a repeated body.
func deflated(head, body string, size int) string {
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	_, _ = io.WriteString(w, head)
	repeat(w, body, size)
	_ = w.Close()
	return fmt.Sprintf("<</Filter /FlateDecode /Length %d>>\nstream\n%s\nendstream", out.Len(), out.String())
}

func onePage(content string) []byte {
	return pdfOf(pdfCatalog, "<</Type /Pages /Kids [3 0 R] /Count 1>>",
		"<</Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources <</Font <</F1 5 0 R>> /XObject <</X 6 0 R>> >> >>",
		content, pdfFont,
		"<</Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources <</XObject <</X 6 0 R>> >> /Length 4>>\nstream\n/X Do\nendstream")
}

func TestHostilePDF(t *testing.T) {
	for name, test := range map[string]struct {
		data []byte
		want []Reason
	}{
		"pages that hold themselves": {pdfOf(pdfCatalog, "<</Type /Pages /Kids [2 0 R 2 0 R] /Count 100>>"), []Reason{ReasonDamaged, ReasonNoText}},
		"form that draws itself":     {onePage(stream("/X Do")), []Reason{ReasonNoText}},
		"nested arrays":              {onePage(stream(strings.Repeat("[", 1<<20))), []Reason{ReasonNoText, ReasonDamaged}},
		"too many pages":             {pdfOf(pdfCatalog, "<</Type /Pages /Kids [3 0 R] /Count 2000000000>>", "<</Type /Page /Parent 2 0 R>>"), []Reason{ReasonTooLarge, ReasonDamaged, ReasonNoText}},
		"only a header":              {[]byte("%PDF-1.7\n"), []Reason{ReasonDamaged}},
		"operator bomb":              {onePage(deflated("BT /F1 12 Tf ", "() Tj ", 300<<20)), []Reason{ReasonDamaged, ReasonMemory, ReasonTimeout, ReasonNoText}},
		"cut":                        {cut(t, "report.pdf", 0.3), []Reason{ReasonDamaged, ReasonNoText}},
	} {
		t.Run(name, func(t *testing.T) { wantOneOf(t, test.data, PDF, test.want...) })
	}
}

// TestPDFBrokenPage checks that one page without sense does not fail the others.
func TestPDFBrokenPage(t *testing.T) {
	data := pdfOf(pdfCatalog, "<</Type /Pages /Kids [3 0 R 6 0 R 3 0 R] /Count 3>>",
		"<</Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources <</Font <</F1 5 0 R>> >> >>",
		stream("BT /F1 12 Tf 50 700 Td (still here) Tj ET"), pdfFont, "<</Type /Catalog>>")
	document, err := testRunner(Limits{}).Extract(t.Context(), writeFile(t, "a.pdf", string(data)), PDF, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := whole(t, document)
	if n := strings.Count(r.Text, "still here"); n != 2 || r.Pages != 3 {
		t.Errorf("%d of 2 pages, %d pages in all, %d skipped: %q", n, r.Pages, r.SkippedPages, r.Text)
	}
}

// TestPDFTenThousandPages checks that size alone is no fault.
func TestPDFTenThousandPages(t *testing.T) {
	const pages = 10_000
	objects := []string{pdfCatalog, "", pdfFont, stream("BT /F1 12 Tf 50 700 Td (page) Tj ET")}
	var kids strings.Builder
	for i := range pages {
		fmt.Fprintf(&kids, "%d 0 R ", i+5)
		objects = append(objects, "<</Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources <</Font <</F1 3 0 R>> >> >>")
	}
	objects[1] = fmt.Sprintf("<</Type /Pages /Kids [%s] /Count %d>>", kids.String(), pages)
	path := writeFile(t, "a.pdf", string(pdfOf(objects...)))
	document, err := testRunner(hostileLimits).Extract(t.Context(), path, PDF, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := whole(t, document)
	if r.Pages != pages || len(r.Marks) != pages || r.SkippedPages != 0 {
		t.Errorf("%d pages, %d marks, %d skipped", r.Pages, len(r.Marks), r.SkippedPages)
	}
	_, err = testRunner(Limits{Pages: pages - 1}).Extract(t.Context(), path, PDF, nil)
	wantReason(t, err, ReasonTooLarge)
}

func TestHostileDOC(t *testing.T) {
	for name, test := range map[string]struct {
		data []byte
		want []Reason
	}{
		"cut OLE":       {cut(t, "report.doc", 0.5), []Reason{ReasonDamaged}},
		"OLE header":    {cut(t, "report.doc", 0.04), []Reason{ReasonDamaged}},
		"cut RTF":       {cut(t, "report.rtf", 0.8), []Reason{ReasonDamaged}},
		"nested groups": {[]byte(`{\rtf1` + strings.Repeat("{", 1<<20)), []Reason{ReasonDamaged}},
		"long binary":   {[]byte(`{\rtf1 \bin2147483647 a}`), []Reason{ReasonDamaged}},
	} {
		t.Run(name, func(t *testing.T) { wantOneOf(t, test.data, DOC, test.want...) })
	}
}
