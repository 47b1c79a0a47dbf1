package extract

import (
	"io"
	"strings"
	"testing"
)

func TestNumerals(t *testing.T) {
	for n, want := range map[int]string{
		1: "1 a A i I", 4: "4 d D iv IV", 26: "26 z Z xxvi XXVI", 27: "27 aa AA xxvii XXVII", 1994: "1994 bxr BXR mcmxciv MCMXCIV",
		0: "0 0 0 0 0", -3: "-3 -3 -3 -3 -3", 4000: "4000 ewv EWV 4000 4000", 1<<31 - 1: "2147483647 fxshrxw FXSHRXW 2147483647 2147483647",
	} {
		var got []string
		for _, way := range []string{digits, lowerLetters, upperLetters, lowerRoman, upperRoman} {
			got = append(got, numeral(n, way))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

func TestHTMLLists(t *testing.T) {
	for page, want := range map[string]string{
		`<ol><li>one<li>two</ol>`: "1. one\n2. two\n",
		`<ol start=3 type=a><li>one</li><li>two<ol type=I><li>in<li>side</ol></li><li>three</li></ol>`: "c. one\nd. two\n  I. in\n  II. side\ne. three\n",
		`<ol><li>one<li value=7>seven<li>eight</ol>`:                                                   "1. one\n7. seven\n8. eight\n",
		`<ol reversed start=3><li>three<li>two</ol>`:                                                   "3. three\n2. two\n",
		`<ol reversed><li>last<li>first</ol>`:                                                          "- last\n- first\n",
		`<ul><li>a</ul><ol start=x><li>b</ol>`:                                                         "- a\n\n1. b\n",
		`<ol start=2147483647><li>a<li>b</ol><ol start=99999999999999999999><li>c</ol>`:                "2147483647. a\n2147483648. b\n\n1. c\n",
	} {
		r := extractBytes(t, []byte("<!DOCTYPE html>"+page), HTML)
		if r.Text+"\n" != want {
			t.Errorf("%s is %q, want %q", page, r.Text, want)
		}
	}
}

// numberedWord makes a DOCX with lists.
func numberedWord(t testing.TB, numbering, styles, body string) []byte {
	const space = ` xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">`
	return zipWith(t, office("word/document.xml",
		part{"word/document.xml", wordRoot + body + wordEnd},
		part{"word/_rels/document.xml.rels", relsOf + rel("rId1", "numbering", "numbering.xml") + rel("rId2", "styles", "styles.xml") + `</Relationships>`},
		part{"word/numbering.xml", `<w:numbering` + space + numbering + `</w:numbering>`},
		part{"word/styles.xml", `<w:styles` + space + styles + `</w:styles>`},
	)...)
}

func wordItem(list, level, text string) string {
	return `<w:p><w:pPr><w:numPr><w:ilvl w:val="` + level + `"/><w:numId w:val="` + list + `"/></w:numPr></w:pPr><w:r><w:t>` + text + `</w:t></w:r></w:p>`
}

func styled(style, text string) string {
	return `<w:p><w:pPr><w:pStyle w:val="` + style + `"/></w:pPr><w:r><w:t>` + text + `</w:t></w:r></w:p>`
}

const (
	wordNumbering = `<w:abstractNum w:abstractNumId="5">` +
		`<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>` +
		`<w:lvl w:ilvl="1"><w:start w:val="3"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1.%2)"/></w:lvl>` +
		`<w:lvl w:ilvl="2"><w:start w:val="1"/><w:numFmt w:val="bullet"/><w:lvlText w:val="•"/></w:lvl></w:abstractNum>` +
		`<w:abstractNum w:abstractNumId="6"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="upperRoman"/><w:lvlText w:val="Article %1"/></w:lvl>` +
		`<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:isLgl/><w:lvlText w:val="%1.%2"/></w:lvl></w:abstractNum>` +
		`<w:num w:numId="1"><w:abstractNumId w:val="5"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="5"/></w:num>` +
		`<w:num w:numId="3"><w:abstractNumId w:val="5"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="40"/></w:lvlOverride></w:num>` +
		`<w:num w:numId="4"><w:abstractNumId w:val="6"/></w:num>`
	wordListStyles = `<w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/><w:pPr><w:numPr><w:numId w:val="4"/></w:numPr></w:pPr></w:style>` +
		`<w:style w:type="paragraph" w:styleId="H2"><w:name w:val="heading 2"/><w:pPr><w:numPr><w:ilvl w:val="1"/><w:numId w:val="4"/></w:numPr></w:pPr></w:style>` +
		`<w:style w:type="paragraph" w:styleId="H3"><w:name w:val="heading 3"/><w:basedOn w:val="H2"/><w:pPr><w:numPr><w:numId w:val="0"/></w:numPr></w:pPr></w:style>`
)

func TestDOCXLists(t *testing.T) {
	body := styled("H1", "Scope") + styled("H2", "Terms") + wordItem("1", "0", "one") + wordItem("1", "0", "two") + wordItem("1", "1", "c") + wordItem("1", "1", "") + wordItem("1", "2", "dot") +
		wordItem("1", "0", "three") + wordItem("1", "1", "again") + `<w:p><w:r><w:t>Between.</w:t></w:r></w:p>` + wordItem("2", "0", "four") + wordItem("3", "0", "forty") + wordItem("3", "0", "more") +
		wordItem("99", "0", "unknown") + styled("H3", "No number") + styled("H1", "Fees")
	r := extractBytes(t, numberedWord(t, wordNumbering, wordListStyles, body), DOCX)
	want := "Article I Scope\n\n1.1 Terms\n1. one\n2. two\n  2.c) c\n    - dot\n3. three\n  3.c) again\n\nBetween.\n4. four\n40. forty\n41. more\n- unknown\n\nNo number\n\nArticle II Fees\n\n"
	if r.Text != want {
		t.Errorf("%q, want %q", r.Text, want)
	}
	if m := markAt(r, strings.Index(r.Text, "Terms")); m.Heading != "1.1 Terms" || r.Text[m.Offset:m.Offset+3] != "1.1" {
		t.Errorf("%+v", m)
	}
}

func TestODTLists(t *testing.T) {
	style := func(name, levels string) string {
		return `<text:list-style style:name="` + name + `">` + levels + `</text:list-style>`
	}
	styles := `</office:text></office:body><office:automatic-styles>` +
		style("N", `<text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/><text:list-level-style-number text:level="2" style:num-format="a" style:num-suffix=")" text:start-value="2" text:display-levels="2"/>`) +
		style("R", `<text:list-level-style-number text:level="1" style:num-format="I" style:num-prefix="("  style:num-suffix=")"/>`) + style("B", `<text:list-level-style-bullet text:level="1"/>`) +
		`</office:automatic-styles><office:body><office:text>`
	item := func(text string) string {
		return "<text:list-item><text:p>" + text + "</text:p></text:list-item>"
	}
	body := styles + `<text:list text:style-name="N" xml:id="x">` + item("one") + `<text:list-item><text:p>two</text:p><text:list>` + item("in") + item("side") + `</text:list></text:list-item>` + item("three") + `</text:list>` +
		`<text:p>Between.</text:p><text:list text:style-name="N" text:continue-numbering="true">` + item("four") + `</text:list>` +
		`<text:list text:style-name="R"><text:list-item text:start-value="9"><text:p>nine</text:p></text:list-item>` + item("ten") + `</text:list>` +
		`<text:list text:style-name="B">` + item("dash") + `</text:list><text:list text:continue-list="x">` + item("of x") + `</text:list><text:list text:style-name="N">` + item("anew") + `</text:list>`
	r := extractBytes(t, odt(t, body, ""), ODT)
	want := "1. one\n2. two\n  2.b) in\n  2.c) side\n3. three\n\nBetween.\n4. four\n(IX) nine\n(X) ten\n- dash\n4. of x\n1. anew\n"
	if r.Text != want {
		t.Errorf("%q, want %q", r.Text, want)
	}
}

// TestHostileLists: numbers at their ends, levels without an end, and lists without number.
func TestHostileLists(t *testing.T) {
	top := `<w:abstractNum w:abstractNumId="5"><w:lvl w:ilvl="0"><w:start w:val="2147483647"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="` + strings.Repeat("%1", 5000) + `"/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="5"/></w:num>`
	r := extractBytes(t, numberedWord(t, top, "", wordItem("1", "0", "a")+wordItem("1", "-7", "b")+wordItem("1", "99999999999999999999", "c")), DOCX)
	if !strings.HasPrefix(r.Text, strings.Repeat("fxshrxw", maxLevelText/2)+" a\n"+strings.Repeat("fxshrxx", maxLevelText/2)+" b\n") || len(r.Text) > 1000 {
		t.Errorf("%.600q", r.Text)
	}
	many := zipOf(t, func(w io.Writer) {
		_, _ = io.WriteString(w, wordRoot)
		repeat(w, wordItem("1", "8", "x"), 12<<20)
		_, _ = io.WriteString(w, wordEnd)
	})
	for name, test := range map[string]struct {
		format Format
		data   []byte
		holds  string
	}{
		"deep HTML":   {HTML, []byte("<!DOCTYPE html>" + strings.Repeat("<ol start=2147483647><li>", 1_000_000) + "end"), "end"},
		"many items":  {DOCX, many, "- x"},
		"many styles": {ODT, odt(t, strings.Repeat(`<text:list-style style:name="a"><text:list-level-style-number text:level="1" style:num-format="I" text:start-value="2147483647"/></text:list-style>`, 50_000)+`<text:list text:style-name="a"><text:list-item><text:p>end</text:p></text:list-item></text:list>`, ""), "2147483647 end"},
		"many kinds":  {DOCX, numberedWord(t, strings.Repeat(top, 500), "", wordItem("1", "0", "end")), "end"},
	} {
		t.Run(name, func(t *testing.T) {
			document, err := testRunner(hostileLimits).Extract(t.Context(), writeFile(t, "a", string(test.data)), test.format, nil)
			if err != nil {
				t.Fatal(err)
			}
			if r := whole(t, document); !strings.Contains(r.Text, test.holds) {
				t.Errorf("%.100q", r.Text)
			}
		})
	}
}
