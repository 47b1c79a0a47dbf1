package extract

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func head(t testing.TB, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	return data[:min(len(data), HeadSize)]
}

// TestCheckContent goes through every sample file and every format that it is and is not.
func TestCheckContent(t *testing.T) {
	for file, fits := range map[string][]Format{
		"report.pdf":         {PDF},
		"scan.pdf":           {PDF},
		"report.docx":        {DOCX, DOC},
		"guide.docx":         {DOCX, DOC},
		"report.doc":         {DOC, DOCX}, // a container like that of a DOCX with a password
		"report.rtf":         {DOC},
		"guide.md":           {Text, Markdown, CSV},
		"cafe.utf16-bom.txt": {Text, Markdown, CSV},
		"cafe.utf16le.txt":   {Text, Markdown, CSV},
		"cafe.utf16be.txt":   {Text, Markdown, CSV},
		"cafe.cp1252.txt":    {Text, Markdown, CSV},
		"ja.sjis.txt":        {Text, Markdown, CSV},
		"tides.csv":          {Text, Markdown, CSV},
	} {
		t.Run(file, func(t *testing.T) {
			content := head(t, file)
			want := map[Format]bool{}
			for _, f := range fits {
				want[f] = true
			}
			for format := range contentTypes {
				if err := CheckContent(format, content); (err == nil) != want[format] {
					t.Errorf("as %q: %v", format, err)
				}
			}
		})
	}
}

func TestCheckContentSentences(t *testing.T) {
	for name, test := range map[string]struct {
		format  Format
		content string
		message string
	}{
		"empty":        {PDF, "", "The file is empty."},
		"png":          {PDF, "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "The file is not a PDF (its content is image/png)."},
		"other zip":    {DOCX, "PK\x03\x04" + strings.Repeat("\x00", 22) + "\x05\x00\x00\x00a.txt" + strings.Repeat("\x00", 40), "The file is not a Word document (its content is application/zip)."},
		"binary noise": {Text, "\x00\x01\x02\x03\x04\x05\x06\x07\x00\x01", "The file is not a text file."},
	} {
		t.Run(name, func(t *testing.T) {
			err := CheckContent(test.format, []byte(test.content))
			if err == nil || err.Error() != test.message {
				t.Errorf("error = %v, want %q", err, test.message)
			}
		})
	}
}
