package extract

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// fuzzReader runs a reader on what the fuzzer makes of the sample files: whatever the bytes, it
// gives a sound result or a Failure.
func fuzzReader(f *testing.F, format Format, samples ...string) {
	for _, name := range samples {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	path := filepath.Join(f.TempDir(), "document")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := extractHere(t.Context(), path, format, Limits{Text: 1 << 20, Part: 1 << 20}, "")
		var failure *Failure
		switch {
		case err == nil:
			wantClean(t, r)
		case !errors.As(err, &failure):
			t.Errorf("error = %v, want a Failure", err)
		}
	})
}

func FuzzDOCX(f *testing.F) { fuzzReader(f, DOCX, "report.docx", "guide.docx") }
func FuzzDOC(f *testing.F)  { fuzzReader(f, DOC, "report.doc") }
func FuzzRTF(f *testing.F)  { fuzzReader(f, DOC, "report.rtf", "guide.rtf") }
func FuzzCSV(f *testing.F)  { fuzzReader(f, CSV, "tides.csv", "tides.utf16.csv") }

func FuzzText(f *testing.F) {
	fuzzReader(f, Text, "cafe.utf8.txt", "cafe.utf16le.txt", "cafe.utf16be.txt", "cafe.cp1252.txt", "ja.sjis.txt")
}

func FuzzMarkdown(f *testing.F) {
	f.Add([]byte("a | b\n-|-\n| \\| | c |\n# d\n~~~\n|e|\n|-|"))
	fuzzReader(f, Markdown, "guide.md")
}

// FuzzWordXML skips the archive, so that the fuzzer's changes reach the XML.
func FuzzWordXML(f *testing.F) {
	f.Add(wordRoot + `<w:p><w:pPr><w:pStyle w:val="1"/></w:pPr><w:r><w:t>a</w:t></w:r></w:p><w:tbl><w:tr><w:tc><w:p/></w:tc></w:tr></w:tbl>` + wordEnd)
	f.Fuzz(func(t *testing.T, xml string) {
		path := writeFile(t, "a.docx", string(docxWith(t, xml)))
		r, err := extractHere(t.Context(), path, DOCX, Limits{Text: 1 << 20, Part: 1 << 20}, "")
		if err == nil {
			wantClean(t, r)
		} else if !isFailure(err) {
			t.Errorf("error = %v, want a Failure", err)
		}
	})
}

func FuzzHTML(f *testing.F) {
	f.Add([]byte(`<table><tr><td>a<ul><li>b</table><h1>c<pre> d`))
	f.Add([]byte(`<table><caption>a<tr><th rowspan=2>b<th colspan=2>c<tr><td>d<h2><table><td>e</table><tr></table>f`))
	fuzzReader(f, HTML)
}

func FuzzPPTX(f *testing.F) {
	f.Add(slides(f))
	fuzzReader(f, PPTX)
}

func FuzzXLSX(f *testing.F) {
	f.Add(book(f, `<row r="1"><c r="A1" t="s"><v>0</v></c></row>`))
	fuzzReader(f, XLSX)
}

func FuzzODT(f *testing.F) {
	f.Add(odt(f, `<text:h>a</text:h><text:list><text:list-item><text:p>b</text:p></text:list-item></text:list>`, ""))
	fuzzReader(f, ODT)
}

func FuzzEPUB(f *testing.F) {
	f.Add(epub(f, `<package><item id="a" href="a"/><itemref idref="a"/></package>`, part{"OEBPS/a", "<p>a"}))
	fuzzReader(f, EPUB)
}
