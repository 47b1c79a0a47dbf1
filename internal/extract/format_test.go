package extract

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

func readTestFile(t testing.TB, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func head(t testing.TB, file string) []byte {
	t.Helper()
	data := readTestFile(t, file)
	return data[:min(len(data), HeadSize)]
}

// TestPassing reads files under the extensions that they have and have not, in steps of several sizes.
func TestPassing(t *testing.T) {
	doc := readTestFile(t, "report.doc")
	for name, test := range map[string]struct {
		format  Format
		content []byte
		failure *Failure
	}{
		"a DOC":                      {DOC, doc, nil},
		"a DOC called .docx":         {DOCX, doc, failRenamedDoc},
		"a DOCX":                     {DOCX, readTestFile(t, "report.docx"), nil},
		"a DOCX with a password":     {DOCX, oleWith("EncryptedPackage"), nil},
		"a spreadsheet called .docx": {DOCX, oleWith("Workbook"), failNotWord},
		"an OLE file that is cut":    {DOCX, oleWith("EncryptedPackage")[:1180], failNotWord},
		"slides with a password":     {PPTX, oleWith("EncryptedPackage"), nil},
		"older slides":               {PPTX, oleWith("PowerPoint Document"), failNotSlides},
		"a DOC called .xlsx":         {XLSX, doc, failNotWorkbook},
		"nothing":                    {DOCX, nil, failEmpty},
	} {
		t.Run(name, func(t *testing.T) {
			for _, step := range []int{1, 7, 128, 1 << 20} {
				in, err := Passing(test.format, bytes.NewReader(test.content))
				var got bytes.Buffer
				if err == nil {
					_, err = io.CopyBuffer(struct{ io.Writer }{&got}, struct{ io.Reader }{in}, make([]byte, step))
				}
				if test.failure == nil && (err != nil || !bytes.Equal(got.Bytes(), test.content)) {
					t.Fatalf("in steps of %d: %v, %d bytes", step, err, got.Len())
				}
				if test.failure != nil && !errors.Is(err, test.failure) {
					t.Fatalf("in steps of %d: %v", step, err)
				}
			}
		})
	}
	broken := errors.New("broken")
	if _, err := Passing(DOCX, iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("of a reader that fails: %v", err)
	}
}

// TestCheckContent goes through every sample file and every format that it is and is not.
func TestCheckContent(t *testing.T) {
	for file, fits := range map[string][]Format{
		"report.pdf":         {PDF},
		"scan.pdf":           {PDF},
		"report.docx":        {DOCX, DOC},
		"guide.docx":         {DOCX, DOC},
		"report.doc":         {DOC, DOCX, PPTX, XLSX}, // a container like that of newer formats with a password
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
