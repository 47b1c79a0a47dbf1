package extract

import (
	"strings"
	"testing"
)

// BenchmarkRunnerStart measures what a child costs by itself: it reads one line.
func BenchmarkRunnerStart(b *testing.B) {
	runner, path := testRunner(Limits{}), writeFile(b, "one.txt", "one line\n")
	for b.Loop() {
		document, err := runner.Extract(b.Context(), path, Text, nil)
		if err != nil {
			b.Fatal(err)
		}
		if err := document.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRunnerText measures a 20 MiB text file through a child, start-up included.
func BenchmarkRunnerText(b *testing.B) {
	text := strings.Repeat("The harbour is deeper than the chart says; Ångström maps cost £5.\r\n", 20<<20/68)
	path := writeFile(b, "a.txt", text)
	runner := testRunner(Limits{})
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := runner.Extract(b.Context(), path, Text, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRunnerCSV measures a 20 MiB CSV file with a mark for each of its rows.
func BenchmarkRunnerCSV(b *testing.B) {
	text := "station,depth,remark\n" + strings.Repeat("Pier A,7.5,\"soft mud, deep\"\n", 20<<20/29)
	path := writeFile(b, "a.csv", text)
	runner := testRunner(Limits{})
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := runner.Extract(b.Context(), path, CSV, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRunnerPDF measures a PDF of 300 full pages through a child, start-up included.
func BenchmarkRunnerPDF(b *testing.B) {
	runner := testRunner(Limits{})
	if err := runner.Warm(b.Context()); err != nil {
		b.Fatal(err)
	}
	pages := 0
	for b.Loop() {
		r, err := runner.Extract(b.Context(), "testdata/pages300.pdf", PDF, nil)
		if err != nil {
			b.Fatal(err)
		}
		pages += r.Pages
	}
	b.ReportMetric(float64(pages)/b.Elapsed().Seconds(), "pages/s")
}

// BenchmarkRunnerColdPDF measures one page where no cache holds the compiled engine.
func BenchmarkRunnerColdPDF(b *testing.B) {
	for b.Loop() {
		runner := NewRunner(RunnerOptions{CacheDir: b.TempDir()})
		if _, err := runner.Extract(b.Context(), "testdata/report.pdf", PDF, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDOCX measures the reader alone on a body of 20 MiB of XML.
func BenchmarkDOCX(b *testing.B) {
	body := wordRoot + strings.Repeat("<w:p><w:pPr><w:jc w:val=\"left\"/></w:pPr><w:r><w:t>The harbour is deeper than the chart says.</w:t></w:r></w:p>", 20<<20/115) + wordEnd
	path := writeFile(b, "a.docx", string(docxWith(b, body)))
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if _, err := extractHere(b.Context(), path, DOCX, Limits{}, ""); err != nil {
			b.Fatal(err)
		}
	}
}
