package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/fstest"
)

// beir is a tiny collection in BEIR's format.
func beir() fstest.MapFS {
	return fstest.MapFS{
		"corpus.jsonl": {Data: []byte(`{"_id": "MED-1", "title": "Wings", "text": "lift of a wing"}
{"_id": "MED-2", "title": "", "text": "heat in slabs", "metadata": {}}
`)},
		"queries.jsonl":  {Data: []byte(`{"_id": "q7", "text": "lift"}` + "\n" + `{"_id": "q9", "text": "heat"}` + "\n")},
		"qrels/test.tsv": {Data: []byte("query-id\tcorpus-id\tscore\nq9\tMED-2\t2\nq9\tMED-1\t0\nq7\tMED-1\t1\nq7\tgone\t1\n")},
	}
}

func TestBEIR(t *testing.T) {
	c, err := loadAny(beir())
	if err != nil || len(c.Documents) != 2 || len(c.Queries) != 2 {
		t.Fatalf("%+v, %v", c, err)
	}
	if c.Documents[0].Text != "Wings\nlift of a wing" || c.Documents[1].Text != "heat in slabs" {
		t.Errorf("documents %+v", c.Documents)
	}
	if len(c.Relevant[1]) != 1 || !c.Relevant[1][1] || len(c.Relevant[2]) != 1 || !c.Relevant[2][2] {
		t.Errorf("judgements %v", c.Relevant)
	}
	if c, err = loadAny(files()); err != nil || len(c.Documents) != 4 {
		t.Errorf("Cranfield: %+v, %v", c, err)
	}
}

func TestBEIRRefused(t *testing.T) {
	for file, faults := range map[string][]string{
		"corpus.jsonl":   {"{", `{"title": "without an id"}`},
		"queries.jsonl":  {`{"_id": 7}`},
		"qrels/test.tsv": {"head\nq7 MED-1 1\n", "head\nq7\tMED-1\tmuch\n", "head\nnobody\tMED-1\t1\n"},
	} {
		for _, fault := range faults {
			f := beir()
			f[file].Data = []byte(fault)
			if _, err := loadAny(f); !errors.Is(err, errFormat) || !strings.Contains(err.Error(), file) {
				t.Errorf("%s with %q: %v", file, fault, err)
			}
		}
	}
}

func TestCurve(t *testing.T) {
	c := curveOf([]int{1, 9, 8, 2}, map[int]bool{1: true, 2: true})
	if want := (curve{1, 1, 1, 1, 1, 1, 0.5, 0.5, 0.5, 0.5, 0.5}); c != want {
		t.Errorf("%v, want %v", c, want)
	}
	if c := curveOf(nil, map[int]bool{1: true}); c != (curve{}) {
		t.Errorf("of nothing: %v", c)
	}
}

func TestPictureIsXML(t *testing.T) {
	var b bytes.Buffer
	if err := drawCurves(&b, []row{{"a < b", quality{Curve: curve{1, 0.5}}}, {"BM25", quality{}}}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "stroke-width"); n != 2 {
		t.Errorf("%d curves", n)
	}
	for d := xml.NewDecoder(&b); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestTable(t *testing.T) {
	var b bytes.Buffer
	if err := table(&b, []row{{"SEMANTIC", quality{NDCG10: 0.4, Each: 1}}, {"BM25", quality{Queries: 3, NDCG10: 0.5}}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"SEMANTIC", "80.0%", "100.0%", "3 queries"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s lacks %s", b.String(), want)
		}
	}
}
