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
			document, err := testRunner(hostileLimits).Extract(t.Context(), writeFile(t, "a", string(data)), DOCX)
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
