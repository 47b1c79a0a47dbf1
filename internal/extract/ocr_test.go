package extract

import (
	"errors"
	"os"
	"strings"
	"testing"
)

func tesseract(t *testing.T) *OCR {
	t.Helper()
	ocr, err := FindTesseract(t.Context(), "eng")
	if err != nil {
		t.Skip(err)
	}
	return ocr
}

// TestRecognition: a page that is a picture gets its text, in its place, and the other pages keep theirs.
func TestRecognition(t *testing.T) {
	runner := NewRunner(RunnerOptions{CacheDir: cacheDir, OCR: tesseract(t)})
	var heard []float64
	document, err := runner.Extract(t.Context(), "testdata/mixed.pdf", PDF, func(done float64) { heard = append(heard, done) })
	if err != nil {
		t.Fatal(err)
	}
	r := whole(t, document)
	first, last := strings.Index(r.Text, "harbour and of the piers"), strings.Index(r.Text, "The last page")
	read := strings.Join(strings.Fields(r.Text), " ")
	if at := strings.Index(r.Text, "lighthouse keeper"); at < first || at > last || first < 0 || !strings.Contains(read, "forty-two ships") || !strings.Contains(read, "mended by the smith") {
		t.Errorf("%q", r.Text)
	}
	for text, page := range map[string]int{"first page": 1, "lighthouse": 2, "smith": 2, "last page": 3} {
		if m := markAt(r, strings.Index(r.Text, text)); m.Page != page {
			t.Errorf("%q is on page %d, want %d", text, m.Page, page)
		}
	}
	if len(heard) != 1 || heard[0] != 1 || r.Pages != 3 {
		t.Errorf("heard %v, of %d pages", heard, r.Pages)
	}
}

// TestRecognitionOfNothing: what is no text stays none, whatever is drawn.
func TestRecognitionOfNothing(t *testing.T) {
	runner := NewRunner(RunnerOptions{CacheDir: cacheDir, OCR: tesseract(t), Limits: hostileLimits})
	for name, data := range map[string][]byte{
		"blank":             onePage(stream("")),
		"huge":              pdfOf(pdfCatalog, "<</Type /Pages /Kids [3 0 R] /Count 1>>", "<</Type /Page /Parent 2 0 R /MediaBox [0 0 14400000 14400000] /Contents 4 0 R>>", stream("0 0 9 9 re f")),
		"no size":           pdfOf(pdfCatalog, "<</Type /Pages /Kids [3 0 R] /Count 1>>", "<</Type /Page /Parent 2 0 R /MediaBox [0 0 0 0] /Contents 4 0 R>>", stream("0 0 9 9 re f")),
		"very wide":         pdfOf(pdfCatalog, "<</Type /Pages /Kids [3 0 R] /Count 1>>", "<</Type /Page /Parent 2 0 R /MediaBox [0 0 10000000 1] /Contents 4 0 R>>", stream("0 0 9 9 re f")),
		"draws without end": onePage(deflated("", "0 0 600 800 re f 300 400 m 1 1 2 2 3 3 c S ", 300<<20)),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := runner.Extract(t.Context(), writeFile(t, "a.pdf", string(data)), PDF, func(float64) {})
			if !isFailure(err) {
				t.Errorf("error = %v, want a Failure", err)
			}
		})
	}
}

// TestRecognitionWithoutText: where nothing is recognised the PDF has no text, as without it.
func TestRecognitionWithoutText(t *testing.T) {
	runner := NewRunner(RunnerOptions{CacheDir: cacheDir, OCR: tesseract(t)})
	_, err := runner.Extract(t.Context(), writeFile(t, "a.pdf", string(onePage(stream("")))), PDF, func(float64) {})
	wantReason(t, err, ReasonNoText)
}

func TestTesseractIsLookedFor(t *testing.T) {
	if _, err := FindTesseract(t.Context(), "tlh"); err == nil || !strings.Contains(err.Error(), "tesseract") {
		t.Errorf("error = %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := FindTesseract(t.Context(), "eng"); err == nil || !strings.Contains(err.Error(), "not installed") {
		t.Errorf("error = %v", err)
	}
}

// TestPagesAreMixed: pages that are found later stand where they belong, below the heading before them.
func TestPagesAreMixed(t *testing.T) {
	d, err := newDocument()
	if err != nil {
		t.Fatal(err)
	}
	text := "two\nfive\n"
	b := &Result{Text: text, Pages: 7, Marks: []Mark{{Offset: 0, Page: 2, Heading: "Two", Level: 1}, {Offset: 4, Page: 5}}}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = writeAnswer(w, childAnswer{result: b}, nil)
		_ = w.Close()
	}()
	_ = d.Close()
	if d, err = readAnswer(r, Limits{}.withDefaults()); err != nil {
		t.Fatal(err)
	}
	pages, err := blankPages(d)
	if err != nil || len(pages) != 5 {
		t.Fatalf("%v, %v", pages, err)
	}
	d, err = d.withPages(mendScans(pages, map[int]string{1: "one infor-\nmation", 3: "three", 4: "", 7: "information"}))
	if err != nil {
		t.Fatal(err)
	}
	got := whole(t, d)
	if want := "one information\ntwo\nthree\nfive\ninformation\n"; got.Text != want {
		t.Errorf("%q, want %q", got.Text, want)
	}
	for text, want := range map[string]Mark{"one": {Page: 1}, "two": {Page: 2, Heading: "Two"}, "three": {Page: 3, Heading: "Two"}, "five": {Page: 5}, "information\n": {Page: 7}} {
		at := strings.LastIndex(got.Text, text)
		if m := markAt(got, at); m.Page != want.Page || m.Heading != want.Heading {
			t.Errorf("%q: %+v, want %+v", text, m, want)
		}
	}
}

// TestPicturesThatLie: what a child sends as a picture is held to its bounds before memory is set aside.
func TestPicturesThatLie(t *testing.T) {
	for name, answer := range map[string]string{
		"empty": "", "too wide": "P\xff\xff\xff\x7f\x01\x01x", "too large": "P\x80\x80\x80\x07\x80\x80\x80\x07\x01x", "no pixels": "P\x02\x02\x01x", "nothing": "P\x00\x02\x01", "no resolution": "P\x01\x01\x00x", "text": "Rabc",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := readPicture(strings.NewReader(answer)); !errors.Is(err, errProtocol) {
				t.Errorf("error = %v", err)
			}
		})
	}
}
