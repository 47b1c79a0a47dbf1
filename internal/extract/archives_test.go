package extract

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
)

// part is one file of an archive.
type part struct{ name, content string }

// zipWith makes an archive. A part named mimetype is not compressed, as readers of OpenDocument and EPUB expect.
func zipWith(t testing.TB, parts ...part) []byte {
	t.Helper()
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, p := range parts {
		method := zip.Deflate
		if p.name == "mimetype" {
			method = zip.Store
		}
		w, err := archive.CreateRaw(&zip.FileHeader{Name: p.name, Method: method})
		if method == zip.Deflate {
			w, err = archive.Create(p.name)
		}
		if err == nil {
			_, err = io.WriteString(w, p.content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

const (
	relsOf         = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`
	relKind        = `http://schemas.openxmlformats.org/officeDocument/2006/relationships/`
	relPrefix      = `xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"`
	noContentTypes = `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`
)

func rel(id, kind, target string) string {
	return fmt.Sprintf(`<Relationship Id=%q Type=%q Target=%q/>`, id, relKind+kind, target)
}

func office(main string, parts ...part) []part {
	return append([]part{{"[Content_Types].xml", noContentTypes}, {"_rels/.rels", relsOf + rel("rId1", "officeDocument", main) + `</Relationships>`}}, parts...)
}

const slideRoot = `xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" ` + relPrefix

func shape(kind string, lines ...string) string {
	var s strings.Builder
	s.WriteString(`<p:sp><p:nvSpPr><p:nvPr><p:ph type="` + kind + `"/></p:nvPr></p:nvSpPr><p:txBody>`)
	for _, line := range lines {
		s.WriteString(`<a:p><a:r><a:t>` + line + `</a:t></a:r></a:p>`)
	}
	return s.String() + `</p:txBody></p:sp>`
}

func slideOf(attrs string, shapes ...string) string {
	return `<p:sld ` + slideRoot + attrs + `><p:cSld><p:spTree>` + strings.Join(shapes, "") + `</p:spTree></p:cSld></p:sld>`
}

func slides(t testing.TB) []byte {
	table := `<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tr><a:tc><a:txBody><a:p><a:r><a:t>Pier</a:t></a:r></a:p></a:txBody></a:tc>` +
		`<a:tc><a:txBody><a:p><a:r><a:t>Depth</a:t></a:r></a:p></a:txBody></a:tc></a:tr>` +
		`<a:tr><a:tc><a:txBody><a:p/></a:txBody></a:tc><a:tc><a:txBody><a:p><a:r><a:t>7.5 m</a:t></a:r></a:p></a:txBody></a:tc></a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>`
	return zipWith(t, office("ppt/presentation.xml",
		part{"ppt/presentation.xml", `<p:presentation ` + slideRoot + `><p:sldIdLst><p:sldId id="256" r:id="rId3"/><p:sldId id="257" r:id="rId2"/><p:sldId id="258" r:id="rId4"/></p:sldIdLst></p:presentation>`},
		part{"ppt/_rels/presentation.xml.rels", relsOf + rel("rId2", "slide", "slides/slide1.xml") + rel("rId3", "slide", "slides/slide2.xml") + rel("rId4", "slide", "slides/slide3.xml") + `</Relationships>`},
		part{"ppt/slides/slide1.xml", slideOf("", shape("body", "Dredging starts in May", "and ends in June"), shape("title", "Plan for the channel"), shape("sldNum", "2"))},
		part{"ppt/slides/slide2.xml", slideOf("", shape("ctrTitle", "Soundings"), table)},
		part{"ppt/slides/_rels/slide2.xml.rels", relsOf + rel("rId1", "notesSlide", "../notesSlides/notesSlide1.xml") + `</Relationships>`},
		part{"ppt/notesSlides/notesSlide1.xml", slideOf("", shape("sldImg", "picture"), shape("body", "Tell them about the mud"))},
		part{"ppt/slides/slide3.xml", slideOf(` show="0"`, shape("title", "Withdrawn"))},
	)...)
}

func TestPPTX(t *testing.T) {
	r := extractBytes(t, slides(t), PPTX)
	if want := "Soundings\nPier\tDepth\n\t7.5 m\n\nTell them about the mud\n\nPlan for the channel\nDredging starts in May\nand ends in June\n"; r.Text != want {
		t.Errorf("text = %q, want %q", r.Text, want)
	}
	if m := markAt(r, strings.Index(r.Text, "June")); m.Page != 2 || m.Heading != "Plan for the channel" || r.Pages != 3 {
		t.Errorf("mark = %+v of %d pages", m, r.Pages)
	}
}

func extractBytes(t testing.TB, data []byte, format Format) *Result {
	t.Helper()
	if err := CheckContent(format, data[:min(len(data), HeadSize)]); err != nil {
		t.Fatal(err)
	}
	r, err := extractHere(t.Context(), writeFile(t, "document", string(data)), format, Limits{}, "")
	if err != nil {
		t.Fatal(err)
	}
	wantClean(t, r)
	return r
}

const sheetRoot = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" ` + relPrefix

func book(t testing.TB, sheetData string) []byte {
	return zipWith(t, office("xl/workbook.xml",
		part{"xl/workbook.xml", `<workbook ` + sheetRoot + `><sheets><sheet name="Tides" sheetId="1" r:id="rId1"/><sheet name="Hidden" sheetId="2" state="hidden" r:id="rId2"/></sheets></workbook>`},
		part{"xl/_rels/workbook.xml.rels", relsOf + rel("rId1", "worksheet", "worksheets/sheet1.xml") + rel("rId2", "worksheet", "worksheets/sheet2.xml") +
			rel("rId3", "sharedStrings", "sharedStrings.xml") + rel("rId4", "styles", "/xl/styles.xml") + `</Relationships>`},
		part{"xl/sharedStrings.xml", `<sst ` + sheetRoot + `><si><t>Station</t></si><si><r><t>Dep</t></r><r><t>th</t></r><rPh><t>phonetic</t></rPh></si><si><t>Pier A</t></si></sst>`},
		part{"xl/styles.xml", `<styleSheet ` + sheetRoot + `><numFmts><numFmt numFmtId="164" formatCode="dd\.mm\.yyyy"/><numFmt numFmtId="165" formatCode="0.0&quot; days&quot;"/></numFmts>` +
			`<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="22"/></cellXfs></styleSheet>`},
		part{"xl/worksheets/sheet1.xml", `<worksheet ` + sheetRoot + `><sheetData>` + sheetData + `</sheetData></worksheet>`},
		part{"xl/worksheets/sheet2.xml", `<worksheet ` + sheetRoot + `><sheetData><row><c t="inlineStr"><is><t>secret</t></is></c></row></sheetData></worksheet>`},
	)...)
}

func TestXLSX(t *testing.T) {
	r := extractBytes(t, book(t, `<row r="1"><c r="A1" t="inlineStr"><is><t>Soundings of the harbour</t></is></c></row>`+
		`<row r="3"><c r="A3" t="s"><v>0</v></c><c r="B3" t="s"><v>1</v></c><c r="C3"><v>2024</v></c><c r="E3" t="inlineStr"><is><t>Day</t></is></c></row>`+
		`<row r="4"><c r="A4" t="s"><v>2</v></c><c r="B4"><f>1+2</f><v>0.30000000000000004</v></c><c r="C4" t="b"><v>1</v></c><c r="D4" s="2"><v>12</v></c><c r="E4" s="1"><v>45352</v></c></row>`+
		`<row r="900"><c r="B900" t="e"><v>#N/A</v></c><c r="E900" s="3"><v>45352.75</v></c></row>`), XLSX)
	want := "Soundings of the harbour\nStation\tDepth\t2024\tDay\nStation: Pier A; Depth: 0.3; 2024: TRUE; 12; Day: 2024-03-01\nDay: 2024-03-01 18:00:00\n"
	if r.Text != want {
		t.Errorf("text = %q, want %q", r.Text, want)
	}
	if m := markAt(r, strings.Index(r.Text, "18:00")); m.Row != 900 || m.Heading != "Tides" {
		t.Errorf("mark = %+v", m)
	}
}

// TestXLSXOfOneCell: neither the name of a sheet nor the number of a row is in the text, which may be shorter than both.
func TestXLSXOfOneCell(t *testing.T) {
	r := extractBytes(t, book(t, `<row r="1048576"><c r="B1048576"><v>7</v></c></row>`), XLSX)
	if m := markAt(r, 0); r.Text != "7\n" || m.Row != maxRows || m.Heading != "Tides" {
		t.Errorf("%q with %+v", r.Text, m)
	}
}

const odtRoot = `<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" ` +
	`xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"><office:body><office:text>`

func odt(t testing.TB, body, manifest string) []byte {
	return zipWith(t, part{"mimetype", ODT.ContentType()}, part{"content.xml", odtRoot + body + `</office:text></office:body></office:document-content>`},
		part{"META-INF/manifest.xml", `<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">` + manifest + `</m:manifest>`})
}

func TestODT(t *testing.T) {
	r := extractBytes(t, odt(t, `<text:tracked-changes><text:p>withdrawn</text:p></text:tracked-changes>
		<text:h text:outline-level="1">Birds of <text:span>the coast</text:span></text:h><text:p>They   are<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>Since 1901.</text:p></text:note-body></text:note>
		loud<text:s text:c="2"/>birds.</text:p><text:list><text:list-item><text:p>Dunlin</text:p><text:list><text:list-item><text:p>small</text:p></text:list-item></text:list></text:list-item></text:list>
		<table:table><table:table-row><table:table-cell><text:p>Bird</text:p></table:table-cell><table:table-cell><text:p>Length</text:p><text:p>cm</text:p></table:table-cell></table:table-row>
		<table:table-row><table:table-cell/><table:table-cell><text:p>18</text:p></table:table-cell></table:table-row></table:table><text:p>End.</text:p>`, ""), ODT)
	want := "Birds of the coast\n\nThey are [Since 1901.] loud  birds.\n- Dunlin\n  - small\n\nBird\tLength cm\n\t18\n\nEnd.\n"
	if r.Text != want {
		t.Errorf("text = %q, want %q", r.Text, want)
	}
	if m := markAt(r, len(r.Text)-2); m.Heading != "Birds of the coast" {
		t.Errorf("mark = %+v", m)
	}
}

func epub(t testing.TB, opf string, parts ...part) []byte {
	return zipWith(t, append([]part{
		{"mimetype", EPUB.ContentType()},
		{"META-INF/container.xml", `<container><rootfiles><rootfile full-path="OEBPS/Content.opf"/></rootfiles></container>`},
		{"OEBPS/Content.opf", opf},
	}, parts...)...)
}

func TestEPUB(t *testing.T) {
	r := extractBytes(t, epub(t, `<!DOCTYPE package><package><manifest><item id="b" href="text/two%20.xhtml"/><item id="a" href="text/one.xhtml"/><item id="n" href="nav.xhtml"/></manifest>`+
		`<spine><itemref idref="a"/><itemref idref="b"/><itemref idref="gone"/></spine></package>`,
		part{"OEBPS/text/one.xhtml", `<?xml version="1.0"?><!DOCTYPE html><html><head><title/><script src="x.js"/></head><body><h1 id="x">Gulls</h1><p>They nest&#160;high &amp; dry.<a id="p1"/></p></body></html>`},
		part{"OEBPS/text/two .xhtml", `<html><head><title>Book</title></head><body><p>Waders wade.</p></body></html>`},
		part{"OEBPS/nav.xhtml", `<html><body>Contents</body></html>`}), EPUB)
	if want := "Gulls\n\nThey nest high & dry.\n\nWaders wade."; r.Text != want {
		t.Errorf("text = %q, want %q", r.Text, want)
	}
	if m := markAt(r, strings.Index(r.Text, "nest")); m.Heading != "Gulls" {
		t.Errorf("mark = %+v", m)
	}
	if m := markAt(r, strings.Index(r.Text, "wade.")); m.Heading != "" {
		t.Errorf("the next chapter has the mark %+v", m)
	}
}

// TestArchivesOfAnotherKind checks that an archive under the name of another format is told at once, or named when it is read.
func TestArchivesOfAnotherKind(t *testing.T) {
	all := map[Format][]byte{
		PPTX: slides(t), XLSX: book(t, ""), ODT: odt(t, "<text:p>a</text:p>", ""), EPUB: epub(t, `<package/>`), DOCX: docxWith(t, wordRoot+wordEnd),
	}
	for format, data := range all {
		for other := range all {
			if err := CheckContent(other, data); (err == nil) != (other == format) {
				t.Errorf("a %s as a %s: %v", format, other, err)
			}
		}
	}
	_, err := extractHere(t.Context(), writeFile(t, "a", string(all[DOCX])), PPTX, Limits{}, "")
	wantReason(t, err, ReasonContent)
	_, err = extractHere(t.Context(), writeFile(t, "a", string(odt(t, "", "<m:file-entry><m:encryption-data/></m:file-entry>"))), ODT, Limits{}, "")
	wantReason(t, err, ReasonEncrypted)
}

func TestHostileArchives(t *testing.T) {
	long := strings.Repeat("a ", 20<<20)
	head := `<row>` + strings.Repeat(`<c t="inlineStr"><is><t>`+strings.Repeat("h", 200)+`</t></is></c>`, 3)
	for name, test := range map[string]struct {
		format Format
		data   []byte
		want   []Reason
	}{
		"slide bomb": {PPTX, zipWith(t, office("ppt/presentation.xml", part{"ppt/presentation.xml", `<p:presentation ` + slideRoot + `>` + long})...), []Reason{ReasonTooLarge, ReasonDamaged}},
		"slides that repeat": {PPTX, zipWith(t, office("ppt/presentation.xml", part{"ppt/presentation.xml", `<p:presentation ` + slideRoot + `>` + strings.Repeat(`<p:sldId r:id="rId1"/>`, 100_000) + `</p:presentation>`},
			part{"ppt/_rels/presentation.xml.rels", relsOf + rel("rId1", "slide", "slides/s.xml") + `</Relationships>`}, part{"ppt/slides/s.xml", slideOf("", shape("body", strings.Repeat("again ", 10_000)))})...), []Reason{ReasonTooLarge}},
		"entities in a sheet": {XLSX, book(t, `</sheetData></worksheet><!DOCTYPE x [<!ENTITY a "b">]>`), []Reason{ReasonDamaged}},
		"shared texts":        {XLSX, book(t, strings.Repeat(`<row><c t="s"><v>2000000000</v></c></row>`, 100)), []Reason{ReasonNoText}},
		"cells without end":   {XLSX, book(t, head+`</row>`+strings.Repeat(`<row r="99999999999"><c r="ZZZZ1"><v>1e999</v></c><c><v>-1</v></c>`, 50_000)), []Reason{ReasonDamaged}},
		"deep lists":          {ODT, odt(t, strings.Repeat("<text:list><text:list-item>", 10_000), ""), []Reason{ReasonDamaged}},
		"text bomb":           {ODT, odt(t, "<text:p>"+long+"</text:p>", ""), []Reason{ReasonTooLarge}},
		"spaces":              {ODT, odt(t, "<text:p>a"+strings.Repeat(`<text:s text:c="2000000000"/>`, 1000)+"</text:p>", "<!ENTITY"), []Reason{ReasonDamaged}},
		"book of itself":      {EPUB, epub(t, `<package><manifest><item id="a" href="Content.opf"/></manifest><spine>`+strings.Repeat(`<itemref idref="a"/>`, 100_000)+`</spine></package>`), []Reason{ReasonTooLarge, ReasonNoText}},
		"book without spine":  {EPUB, epub(t, `<package/>`), []Reason{ReasonNoText}},
		"book elsewhere":      {EPUB, zipWith(t, part{"mimetype", EPUB.ContentType()}, part{"META-INF/container.xml", `<rootfile full-path="../../../etc/passwd"/>`}), []Reason{ReasonContent}},
		"no archive":          {EPUB, []byte("PK\x03\x04 and no more"), []Reason{ReasonDamaged}},
		"tags of a page":      {HTML, []byte(strings.Repeat("<table><tr><td><ul><li>", 200_000)), []Reason{ReasonNoText}},
	} {
		t.Run(name, func(t *testing.T) { wantOneOf(t, test.data, test.format, test.want...) })
	}
}
