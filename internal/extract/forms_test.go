package extract

import (
	"fmt"
	"strings"
	"testing"
)

// form makes a PDF of one page with a text and these fields, which are widgets, too.
func form(text string, fields ...string) []byte {
	objects := []string{"", "<</Type /Pages /Kids [3 0 R] /Count 1>>", "", stream("BT /F1 12 Tf 50 700 Td (" + text + ") Tj ET"), pdfFont}
	var all strings.Builder
	for i, field := range fields {
		fmt.Fprintf(&all, "%d 0 R ", len(objects)+1)
		objects = append(objects, fmt.Sprintf("<</Type /Annot /Subtype /Widget /Rect [50 %d 250 %d] /P 3 0 R %s>>", 600-20*i, 615-20*i, field))
	}
	objects[0] = "<</Type /Catalog /Pages 2 0 R /AcroForm <</Fields [" + all.String() + "] /DA (/F1 0 Tf) /DR <</Font <</F1 5 0 R>> >> >> >>"
	objects[2] = "<</Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources <</Font <</F1 5 0 R>> >> /Annots [" + all.String() + "]>>"
	return pdfOf(objects...)
}

func TestPDFForm(t *testing.T) {
	state := func(on string) string {
		return "/AP <</N <</" + on + " <</Type /XObject /Subtype /Form /BBox [0 0 9 9] /Length 0>> /Off <</Type /XObject /Subtype /Form /BBox [0 0 9 9] /Length 0>> >> >>"
	}
	data := form("Registration of a boat",
		"/FT /Tx /T (owner) /TU (Name of the owner:) /V (Ada Lovelace)",
		"/FT /Tx /T (form1[0].berth[0]) /V (B12)",
		"/FT /Tx /T (remarks) /Ff 4096 /V (Two masts.\\nNo engine.)",
		"/FT /Tx /T (empty) /TU (Never filled in)",
		"/FT /Tx /T (pin) /Ff 8192 /V (4711)",
		"/FT /Tx /T (secret) /F 2 /V (unseen)",
		"/FT /Btn /T (insured) /TU (Insured) /V /Yes /AS /Yes "+state("Yes"),
		"/FT /Btn /T (leased) /TU (Leased) /V /Off /AS /Off "+state("Yes"),
		"/FT /Ch /T (flag) /TU (Flag) /Ff 131072 /Opt [[(lv) (Latvia)] [(ee) (Estonia)]] /V (ee)",
		"/FT /Ch /T (gear) /TU (Gear) /Ff 2097152 /Opt [(anchor) (oars) (radio)] /V [(anchor) (radio)]",
		"/FT /Btn /T (push) /Ff 65536 /TU (Send)",
	)
	document, err := testRunner(Limits{}).Extract(t.Context(), writeFile(t, "a.pdf", string(data)), PDF, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := "Registration of a boat\n\nName of the owner: Ada Lovelace\nberth: B12\nremarks: Two masts. No engine.\nInsured: Yes\nFlag: Estonia\nGear: anchor, radio\n"
	if r := whole(t, document); r.Text != want || len(r.Marks) != 1 || r.Marks[0].Page != 1 {
		t.Errorf("%q, %v\nwant %q", r.Text, r.Marks, want)
	}
}

// TestPDFFormAlone: what is filled in is text, also on a page that is a picture otherwise.
func TestPDFFormAlone(t *testing.T) {
	data := form("", "/FT /Tx /T (name) /V (Ada)")
	document, err := testRunner(Limits{}).Extract(t.Context(), writeFile(t, "a.pdf", string(data)), PDF, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r := whole(t, document); r.Text != "name: Ada\n" {
		t.Errorf("%q", r.Text)
	}
}

// TestHostileForms: fields that are their own parents, lists and pages without an end, and values that are no texts. The page's text is
// read all the same.
func TestHostileForms(t *testing.T) {
	many := make([]string, 10_000)
	for i := range many {
		many[i] = fmt.Sprintf("/FT /Tx /T (f%d) /V (v%d)", i, i)
	}
	for name, data := range map[string][]byte{
		"own parent":         form("harbour", "/FT /Tx /T (a) /Parent 6 0 R /Kids [6 0 R] /V (x)"),
		"parents in a ring":  form("harbour", "/T (a) /Parent 7 0 R /Kids [7 0 R]", "/T (b) /Parent 6 0 R /Kids [6 0 R] /FT /Tx /V (x)"),
		"many options":       form("harbour", "/FT /Ch /T (a) /V [(x) (y)] /Opt ["+strings.Repeat("(x)", 200_000)+"]"),
		"many fields":        form("harbour", many...),
		"value is a picture": form("harbour", "/FT /Tx /T (a) /V 4 0 R", "/FT /Tx /T 5 0 R /V [[[[]]]]", "/FT /Btn /T (r) /Ff 32768 /V 4 0 R /AS [1] /Opt 3 0 R"),
		"long value":         form("harbour", "/FT /Tx /T (a) /V ("+strings.Repeat("v", 4<<20)+")"),
		"opens with a script": pdfOf("<</Type /Catalog /Pages 2 0 R /OpenAction <</S /JavaScript /JS (while(1){})>> /AcroForm <</Fields [6 0 R] /CO [6 0 R]>> >>",
			"<</Type /Pages /Kids [3 0 R] /Count 1>>",
			"<</Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources <</Font <</F1 5 0 R>> >> /Annots [6 0 R] /AA <</O <</S /JavaScript /JS (while(1){})>> >> >>",
			stream("BT /F1 12 Tf 50 700 Td (harbour) Tj ET"), pdfFont,
			"<</Type /Annot /Subtype /Widget /Rect [0 0 9 9] /FT /Tx /T (a) /V (x) /AA <</C <</S /JavaScript /JS (while(1){})>> /F <</S /JavaScript /JS (while(1){})>> >> >>"),
	} {
		t.Run(name, func(t *testing.T) {
			document, err := testRunner(hostileLimits).Extract(t.Context(), writeFile(t, "a", string(data)), PDF, nil)
			if err != nil {
				t.Fatal(err)
			}
			r := whole(t, document)
			if !strings.HasPrefix(r.Text, "harbour\n") {
				t.Errorf("%.200q", r.Text)
			}
		})
	}
}
