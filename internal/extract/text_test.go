package extract

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"pgregory.net/rapid"
)

func TestClean(t *testing.T) {
	for name, test := range map[string]struct{ in, want string }{
		"clean":         {"a\tb\nÄ中😀", "a\tb\nÄ中😀"},
		"line ends":     {"a\r\nb\rc\vd\fe\u0085f", "a\nb\nc\nd\ne\nf"},
		"controls":      {"a\x00b\x1bc\x7fd\u0080e", "abcde"},
		"soft hyphen":   {"Donau\u00addampf", "Donaudampf"},
		"marks":         {"\ufeffa\ufeff", "a"},
		"noncharacters": {"a\ufffe\uffff\U0001ffffb\ufdd0", "ab"},
		"replacement":   {"a\ufffdb", "a\ufffdb"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := clean(test.in); got != test.want {
				t.Errorf("clean(%q) = %q, want %q", test.in, got, test.want)
			}
		})
	}
}

func TestCleanTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		once := clean(s)
		if clean(once) != once || strings.ContainsAny(once, "\x00\r") {
			t.Fatalf("clean(%q) = %q", s, once)
		}
	})
}

func TestDecode(t *testing.T) {
	const latin = "Die Straße führt über die Brücke; in Malmö gibt es “Kaffee”. "
	const greek = "Η θάλασσα είναι βαθιά και κανείς δεν ξέρει πόσο. "
	const chinese = "海港的深度未知。 春天开始测量。\n"
	for name, test := range map[string]struct {
		text string
		enc  encoding.Encoding
	}{
		"windows-1252":    {strings.Repeat(latin, 5), charmap.Windows1252},
		"UTF-16LE latin":  {latin, utf16LE},
		"UTF-16BE latin":  {latin, utf16BE},
		"UTF-16LE greek":  {greek, utf16LE},
		"UTF-16BE greek":  {greek, utf16BE},
		"UTF-16LE Han":    {chinese, utf16LE},
		"UTF-16BE Han":    {chinese, utf16BE},
		"windows-1253":    {strings.Repeat(greek, 5), charmap.Windows1253},
		"short café":      {"café", charmap.Windows1252},
		"UTF-8":           {latin + greek + chinese, encoding.Nop},
		"UTF-8, one flaw": {strings.Repeat(latin+greek, 20) + "\uFFFD", encoding.Nop},
	} {
		t.Run(name, func(t *testing.T) {
			data, err := test.enc.NewEncoder().Bytes([]byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			if name == "UTF-8, one flaw" {
				data = append(data[:len(data)-3], 0xC3)
			}
			got, err := decode(data)
			if err != nil || got != test.text {
				t.Errorf("decode = %q, %v, want %q", got, err, test.text)
			}
		})
	}
}

func TestMarkdownHeadings(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"atx":          {"# One\ntext\n## Two ##\n###### Six\n####### seven\n#hash\n", []string{"One", "Two", "Six"}},
		"setext":       {"One\n===\ntext\n\nTwo\n---\ntext\n", []string{"One", "Two"}},
		"rule":         {"text\n\n---\nmore\n", nil},
		"fence":        {"```sh\n# no\n```\n# yes\n~~~\n# no\n```\n~~~\nNo\n\n# also\n", []string{"yes", "also"}},
		"indented":     {"    # code\n   # heading\n", []string{"heading"}},
		"front matter": {"---\ntitle: x\n# comment\n---\n# One\ntext", []string{"One"}},
		"list":         {"- item\n---\n", nil},
		"empty title":  {"#\ntext\n", nil},
		"sharp":        {"# C#\nx\n", []string{"C#"}},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := markdownText(test.text, Limits{}.withDefaults())
			if err != nil || r.Text != test.text {
				t.Errorf("%q, %v, want %q", r.Text, err, test.text)
			}
			var got []string
			for _, m := range r.Marks {
				got = append(got, m.Heading)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("headings %q, want %q", got, test.want)
			}
		})
	}
}

func TestRTFText(t *testing.T) {
	for name, test := range map[string]struct{ rtf, want string }{
		"escapes":       {`{\rtf1 a\{b\}c\\d\~e\_f}`, "a{b}c\\d\u00a0e-f\n"},
		"hex":           {`{\rtf1\ansi\ansicpg1251 \'cf\'f0\'e8}`, "При\n"},
		"unicode":       {`{\rtf1\uc1 \u8364?\u-10179?\u-8704?x}`, "€😀x\n"},
		"uc2":           {`{\rtf1\uc2 \u8364\'80\'80x}`, "€x\n"},
		"double byte":   {`{\rtf1{\fonttbl{\f1\fcharset128 M;}}\f1\'8a\'43\'8d\'60}`, "海港\n"},
		"destinations":  {`{\rtf1{\*\unknown no}{\info{\title no}}{\pict 00ff}yes}`, "yes\n"},
		"a drawing":     {`{\rtf1 a{\shp{\*\shpinst\shpleft0{\sp{\sn shapeType}{\sv 202}}{\sp{\sn wzName}{\sv Box 1}}{\shptxt in the box}}}}`, "ain the box\n"},
		"binary":        {`{\rtf1 a{\pict\bin4 }{}}}b}`, "ab\n"},
		"deleted":       {`{\rtf1 a{\deleted no}b}`, "ab\n"},
		"table":         {`{\rtf1\trowd\intbl a\cell b\par c\cell\row\pard d\par}`, "a\tb c\n\nd\n"},
		"paragraphs":    {"{\\rtf1 a\\par\nb\\line c\\\nd}", "a\n\nb\nc\n\nd\n"},
		"surplus brace": {`{\rtf1 a}}b`, "a\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := readRTF(t.Context(), []byte(test.rtf), Limits{}.withDefaults())
			if err != nil {
				t.Fatal(err)
			}
			if name == "surplus brace" {
				if !strings.HasPrefix(r.Text, "a") {
					t.Errorf("text %q", r.Text)
				}
				return
			}
			if r.Text != test.want {
				t.Errorf("text %q, want %q", r.Text, test.want)
			}
		})
	}
}

func TestFormatOf(t *testing.T) {
	for name, want := range map[string]Format{
		"a.pdf": PDF, "A.PDF": PDF, "x.y.docx": DOCX, "dir.txt/a.md": Markdown, "b.Csv": CSV, ".doc": DOC, "c.TXT": Text,
	} {
		if got, err := FormatOf(name); err != nil || got != want {
			t.Errorf("FormatOf(%q) = %q, %v", name, got, err)
		}
		if want.ContentType() == "" {
			t.Errorf("%q has no content type", want)
		}
	}
	for _, name := range []string{"", "pdf", "a.exe", "a.pdf.zip", "a.docm", "a."} {
		_, err := FormatOf(name)
		wantReason(t, err, ReasonType)
	}
}
