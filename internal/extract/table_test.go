package extract

import (
	"io"
	"strings"
	"testing"
)

func TestTables(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"three columns":           {text: "Pier\tBottom\tBuoy\nA\tmud\tred\nB\t\tgreen\n", want: "Pier\tBottom\tBuoy\nPier: A; Bottom: mud; Buoy: red\nPier: B; Buoy: green\n"},
		"numbers":                 {text: "Pier\tDepth\nA\t7.5 m\nB\t−3\n", want: "Pier\tDepth\nPier: A; Depth: 7.5 m\nPier: B; Depth: −3\n"},
		"names and values":        {text: "Name\tAlice\nAge\t12\nTown\tRiga\n", want: "Name\tAlice\nAge\t12\nTown\tRiga\n"},
		"years":                   {text: "\t2023\t2024\nFees\t1\t2\nWages\t3\t4\n", want: "\t2023\t2024\nFees; 2023: 1; 2024: 2\nWages; 2023: 3; 2024: 4\n"},
		"no header":               {text: "A\t1\t2\nB\t3\t4\n", want: "A\t1\t2\nB\t3\t4\n"},
		"title above":             {text: "Soundings\nPier\tBottom\tBuoy\nA\tmud\tred\n", want: "Soundings\nPier\tBottom\tBuoy\nPier: A; Bottom: mud; Buoy: red\n"},
		"said to be":              {text: "\x01Name\t\x01Town\nAda\tRiga\n", want: "Name\tTown\nName: Ada; Town: Riga\n"},
		"title above what is":     {text: "Soundings\n\x01All piers\t\n\x01Pier\t\x01Buoy\nA\tred\n", want: "Soundings\nAll piers\nPier\tBuoy\nPier: A; Buoy: red\n"},
		"one column":              {text: "\x01Pier\nA\nB\n", want: "Pier\nPier: A\nPier: B\n"},
		"two rows of it":          {text: "\x01Pier\t\x01Depth\t\n\x01\v\t\x01low\t\x01high\nA\t1\t2\n", want: "Pier\tDepth\nPier\tlow\thigh\nPier: A; low: 1; high: 2\n"},
		"as above":                {text: "\x01Pier\t\x01Buoy\nA\tred\n\v\tgreen\n", want: "Pier\tBuoy\nPier: A; Buoy: red\nPier: A; Buoy: green\n"},
		"names of rows":           {text: "\x01Depth\t7\n\x01Width\t8\n", want: "Depth\t7\nWidth\t8\n"},
		"more cells than columns": {text: "\x01A\t\x01B\n1\t2\t3\n", want: "A\tB\nA: 1; B: 2; 3\n"},
		"one row":                 {text: "A\tB\tC\n", want: "A\tB\tC\n"},
		"nothing":                 {text: "\n", want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newTextBuilder(Limits{}.withDefaults())
			if writeTable(b, test.text); b.text.String() != test.want {
				t.Errorf("%q, want %q", b.text.String(), test.want)
			}
		})
	}
}

func wordRow(properties string, cells ...string) string {
	row := "<w:tr>" + properties
	for _, c := range cells {
		row += "<w:tc>" + c + "</w:tc>"
	}
	return row + "</w:tr>"
}

func wordPara(text string) string { return "<w:p><w:r><w:t>" + text + "</w:t></w:r></w:p>" }

func TestDOCXTable(t *testing.T) {
	body := "<w:tbl>" + wordRow("<w:trPr><w:tblHeader/></w:trPr>", wordPara("Name"), wordPara("Town"), wordPara("Job")) +
		wordRow("", `<w:tcPr><w:vMerge w:val="restart"/></w:tcPr>`+wordPara("Ada"), `<w:tcPr><w:gridSpan w:val="2"/></w:tcPr>`+wordPara("unknown")) +
		wordRow("", `<w:tcPr><w:vMerge/></w:tcPr><w:p/>`, wordPara("Riga")+wordPara("old town"), "<w:tbl>"+wordRow("", wordPara("in"), wordPara("side"))+"</w:tbl>") + "</w:tbl>" + wordPara("After.")
	r := extractBytes(t, docxWith(t, wordRoot+body+wordEnd), DOCX)
	if want := "Name\tTown\tJob\nName: Ada; Town: unknown\nName: Ada; Town: Riga old town; Job: in side\n\nAfter.\n\n"; r.Text != want {
		t.Errorf("%q, want %q", r.Text, want)
	}
}

func TestODTTable(t *testing.T) {
	cell := func(attrs, text string) string {
		return "<table:table-cell " + attrs + "><text:p>" + text + "</text:p></table:table-cell>"
	}
	r := extractBytes(t, odt(t, `<table:table><table:table-header-rows><table:table-row>`+cell("", "Name")+cell("", "Town")+cell("", "Job")+`</table:table-row></table:table-header-rows>`+
		`<table:table-row>`+cell(`table:number-columns-repeated="2"`, "")+cell("", "smith")+`</table:table-row><table:table-row>`+cell("", "Ada")+cell("", "Riga")+`</table:table-row></table:table>`, ""), ODT)
	if want := "Name\tTown\tJob\nJob: smith\nName: Ada; Town: Riga\n"; r.Text != want {
		t.Errorf("%q, want %q", r.Text, want)
	}
}

func TestMarkdownTables(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"with bars":       {"# Piers\n\n| Pier | Depth |\n|:-----|---:|\n| A | 7.5 m |\n| B | |\n\nAfter.\n", "# Piers\n\nPier\tDepth\nPier: A; Depth: 7.5 m\nPier: B\n\nAfter.\n"},
		"without":         {"Pier | Buoy\n---|---\nA | red\nB \\| C | green | more\n# Next\n", "Pier\tBuoy\nPier: A; Buoy: red\nPier: B | C; Buoy: green\n# Next\n"},
		"a sign":          {"| # | Pier |\n|---|---|\n| 1 | A |\n", "#\tPier\n#: 1; Pier: A\n"},
		"in a fence":      {"```\n| a | b |\n|---|---|\n| 1 | 2 |\n```\n", "```\n| a | b |\n|---|---|\n| 1 | 2 |\n```\n"},
		"code":            {"    | a | b |\n    |---|---|\n", "    | a | b |\n    |---|---|\n"},
		"other columns":   {"a | b\n|-|\nc\n", "a | b\n|-|\nc\n"},
		"at the end":      {"x\n|a|b|\n|-|-|", "x\na\tb\n"},
		"only delimiters": {"|-|-|\n|-|-|\n|-|-|\n", "-\t-\n-: -; -: -\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r := extractBytes(t, []byte(test.text), Markdown)
			if r.Text != test.want {
				t.Errorf("%q, want %q", r.Text, test.want)
			}
			for _, m := range r.Marks {
				if m.Heading != "Piers" && m.Heading != "Next" {
					t.Errorf("heading %q", m.Heading)
				}
			}
		})
	}
}

func TestPPTXTable(t *testing.T) {
	cell := func(attrs, text string) string {
		return `<a:tc ` + attrs + `><a:txBody><a:p><a:r><a:t>` + text + `</a:t></a:r></a:p></a:txBody></a:tc>`
	}
	table := `<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tblPr firstRow="1"/><a:tr>` + cell("", "Pier") + cell("", "Buoy") + `</a:tr><a:tr>` +
		cell(`rowSpan="2"`, "A") + cell("", "red") + `</a:tr><a:tr>` + cell(`vMerge="1"`, "") + cell("", "green") + `</a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>`
	r := newSlideReader(Limits{}.withDefaults())
	if err := r.read(newXMLReader(strings.NewReader(slideOf("", shape("title", "Buoys"), table, shape("body", "After."))))); err != nil {
		t.Fatal(err)
	}
	if want := "Pier\tBuoy\nPier: A; Buoy: red\nPier: A; Buoy: green\nAfter.\n"; r.text.text.String() != want {
		t.Errorf("%q, want %q", r.text.text.String(), want)
	}
}

func TestHTMLTables(t *testing.T) {
	for name, test := range map[string]struct{ page, want string }{
		"spans": {
			`<table><caption>Soundings</caption><thead><tr><th rowspan=2>Pier<th colspan=2>Depth<th rowspan=2>Buoy</tr><tr><th>low<th>high</tr></thead>` +
				`<tbody><tr><td rowspan=2>A</td><td>1</td><td>2</td><td rowspan=2>red</td></tr><tr><td colspan=2>3</td></tr><tr><td>B<td>4<td>5<td>green</table><p>After.`,
			"Soundings\nPier\tDepth\t\tBuoy\nPier\tlow\thigh\tBuoy\nPier: A; low: 1; high: 2; Buoy: red\nPier: A; low: 3; Buoy: red\nPier: B; low: 4; high: 5; Buoy: green\n\nAfter.",
		},
		"in a cell":      {`a<table><tr><td>Pier<td>Depth<td>Bottom<tr><td>A<td>7<td><table><tr><td>mud<td>sand</table></table>b`, "a\n\nPier\tDepth\tBottom\nPier: A; Depth: 7; Bottom: mud sand\n\nb"},
		"never closed":   {`<table><tr><th>Pier<th>Buoy<tr><td>A<td>red`, "Pier\tBuoy\nPier: A; Buoy: red\n"},
		"names of rows":  {`<table><tr><th>Depth<td>7 m<tr><th>Bottom<td>mud</table>`, "Depth\t7 m\nBottom\tmud\n"},
		"for the layout": {`<table><tr><td><h1>Tides</h1><p>Long words on tides.<td><p>Menu</table>`, "Tides Long words on tides.\tMenu\n"},
		"without rows":   {`a<table></table>b<table><tr></table>c</table></table>d<td>e`, "a\n\nb\n\nc\n\nd e"},
	} {
		t.Run(name, func(t *testing.T) {
			if r := extractBytes(t, []byte(test.page), HTML); r.Text != test.want {
				t.Errorf("%q\nwant %q", r.Text, test.want)
			}
		})
	}
}

// TestHostileHTMLTables: cells that take all that there is. They end as a document that is too long, or as text.
func TestHostileHTMLTables(t *testing.T) {
	for name, page := range map[string]string{
		"wide cells":     "<table><tr>" + strings.Repeat("<td colspan=9999999>x", 500_000),
		"high cells":     "<table><tr>" + strings.Repeat("<td rowspan=9999999>x", 100_000) + strings.Repeat("<tr><td>", 2000),
		"deep tables":    strings.Repeat("<table><tr><td>x", 500_000),
		"nothing at all": strings.Repeat("<table></table>", 500_000) + "x",
	} {
		t.Run(name, func(t *testing.T) {
			document, err := testRunner(hostileLimits).Extract(t.Context(), writeFile(t, "a", page), HTML, nil)
			if err != nil {
				if !isFailure(err) {
					t.Error(err)
				}
				return
			}
			whole(t, document)
		})
	}
}

// TestHostileTables: rows without an end, and names that would make a table much longer than it is.
func TestHostileTables(t *testing.T) {
	word := func(row string, size int) []byte {
		return zipOf(t, func(w io.Writer) {
			_, _ = io.WriteString(w, wordRoot+"<w:tbl>"+wordRow("<w:trPr><w:tblHeader/></w:trPr>", wordPara(strings.Repeat("n", 1000)), wordPara("b")))
			repeat(w, row, size)
			_, _ = io.WriteString(w, "</w:tbl>"+wordEnd)
		})
	}
	for name, data := range map[string][]byte{
		"many columns": word("<w:tc>"+wordPara("x")+"</w:tc>", 15<<20),
		"long names":   word(wordRow("", wordPara("x"), wordPara("y")), 15<<20),
		"wide cells":   word(`<w:tr><w:tc><w:tcPr><w:gridSpan w:val="2147483647"/></w:tcPr></w:tc><w:tc>`+wordPara("x")+"</w:tc></w:tr>", 4<<20),
		"no rows":      docxWith(t, wordRoot+strings.Repeat("<w:tbl></w:tbl>", 100_000)+wordPara("x")+wordEnd),
		"mixed up":     docxWith(t, wordRoot+`<w:tbl><w:tr><w:tc><w:p><w:pPr><w:outlineLvl w:val="0"/></w:pPr><w:r><w:t>aaaaaa</w:t></w:r></w:tbl></w:p></w:tc></w:tr></w:body></w:p></w:p></w:p>`),
	} {
		t.Run(name, func(t *testing.T) {
			document, err := testRunner(hostileLimits).Extract(t.Context(), writeFile(t, "a", string(data)), DOCX, nil)
			if err != nil {
				if !isFailure(err) {
					t.Error(err)
				}
				return
			}
			whole(t, document)
		})
	}
}
