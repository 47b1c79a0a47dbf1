package contexts

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"canopy/e2e/platform"
)

// wordFile makes a DOCX whose main part is written by body.
func wordFile(t testing.TB, body func(io.Writer)) []byte {
	t.Helper()
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	part, err := archive.Create("word/document.xml")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(part, `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>`)
	body(part)
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// bombOf writes a text over and over, a MiB at a time.
func bombOf(text string, mib int) func(io.Writer) {
	block := []byte(strings.Repeat(text, 1<<20/len(text)))
	return func(w io.Writer) {
		for range mib {
			_, _ = w.Write(block)
		}
	}
}

// cyclicPDF has pages that hold themselves.
const cyclicPDF = "%PDF-1.7\n1 0 obj\n<</Type /Catalog /Pages 2 0 R>>\nendobj\n2 0 obj\n<</Type /Pages /Kids [2 0 R 2 0 R] /Count 100>>\nendobj\n" +
	"trailer\n<</Size 3 /Root 1 0 R>>\n%%EOF\n"

// mostOfAWorker is what a worker may take at most, its extractor children apart, in bytes.
const mostOfAWorker = 256 << 20

// TestHostileDocuments gives a worker in a process of its own every kind of file that can't be read,
// beside large ones that can: each of the former ends as failed with a sentence for a person, the
// latter are ready, and the worker lives, within its bounds.
func TestHostileDocuments(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	s := platform.Start(t)
	token := s.Assistant()
	id := s.NewContext(token, "Hostile")
	report := platform.Sample(t, "report.pdf")
	word := platform.Sample(t, "report.docx")
	text := platform.Sentences(1, 3<<20/10)
	files := []struct {
		name    string
		content []byte
		// status is what the document ends as, says a part of what is said of it.
		status, says string
	}{
		{"zip-bomb.docx", wordFile(t, bombOf("a ", 100)), "failed", "too large"},
		{"element-bomb.docx", wordFile(t, bombOf("</w:t><w:t>x", 60)), "failed", ""},
		{"half.docx", wordFile(t, bombOf("half a ", 1)), "failed", "damaged"},
		{"entities.docx", wordFile(t, bombOf("&a;", 1)), "failed", "damaged"},
		{"cut.docx", word[:len(word)*7/10], "failed", "damaged"},
		{"encrypted.pdf", platform.Sample(t, "encrypted.pdf"), "failed", "encrypted"},
		{"scan.pdf", platform.Sample(t, "scan.pdf"), "failed", "scan"},
		{"cut.pdf", report[:len(report)*3/10], "failed", ""},
		{"cyclic.pdf", []byte(cyclicPDF), "failed", ""},
		{"header.pdf", []byte("%PDF-1.7\n"), "failed", "damaged"},
		{"cut.doc", platform.Sample(t, "report.doc")[:7_000], "failed", "damaged"},
		{"spaces.txt", bytes.Repeat([]byte(" \n"), 1<<20), "failed", "no text"},
		{"large.txt", []byte(strings.Repeat(text, 24<<20/len(text)+1)), "ready", ""},
		{"sound.pdf", report, "ready", ""},
	}
	w := s.StartWorker(t)
	t.Cleanup(w.Kill)
	for _, f := range files {
		if a := s.Upload(token, id, f.name, f.content); a.Status != 200 {
			t.Fatalf("%s: %d %s", f.name, a.Status, a.Body)
		}
	}
	ended := map[string]map[string]any{}
	for _, d := range s.Settle(token, id) {
		ended[d["originalName"].(string)] = d
	}
	for _, f := range files {
		d := ended[f.name]
		said, _ := d["error"].(string)
		if d["status"] != f.status || !strings.Contains(said, f.says) || (f.status == "failed") != strings.HasSuffix(said, ".") {
			t.Errorf("%s: %v %q, want %s with %q", f.name, d["status"], said, f.status, f.says)
		}
	}
	// It lives, and nothing of the failed ones is left to be found.
	if a := s.Upload(token, id, "after.txt", []byte("The lighthouse keeper went home.")); a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	s.Settle(token, id)
	if hits := s.Search(token, id, "lighthouse keeper"); len(hits) == 0 || !strings.Contains(fmt.Sprint(hits[0]["content"]), "lighthouse") {
		t.Errorf("afterwards: %v", hits)
	}
	if n := s.Number(`SELECT count(*) FROM chunks k JOIN documents d ON d.id = k.document_id WHERE d.status = 'failed'`); n != 0 {
		t.Errorf("%d chunks of failed documents", n)
	}
	if runtime.GOOS == "linux" {
		if peak := peakMemory(t, w.Cmd.Process.Pid); peak > mostOfAWorker {
			t.Errorf("the worker took %d MiB", peak>>20)
		} else {
			t.Logf("the worker took %d MiB", peak>>20)
		}
	}
}

// peakMemory is the most that a process had resident, in bytes (proc(5), VmHWM).
func peakMemory(t testing.TB, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if value, found := strings.CutPrefix(line, "VmHWM:"); found {
			n, err := strconv.Atoi(strings.Fields(value)[0])
			if err != nil {
				t.Fatal(err)
			}
			return n << 10
		}
	}
	t.Fatal("no VmHWM")
	return 0
}
