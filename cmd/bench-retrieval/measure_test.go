package main

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"canopy/internal/chunk"
	"canopy/internal/models/lexical"
	"canopy/internal/vector"
)

// files is a tiny collection in the Cranfield format.
func files() fstest.MapFS {
	return fstest.MapFS{
		"cran.all": {Data: []byte(`.I 1
.T
wings in a slipstream
.A
smith,j.
.B
j. ae. 1958.
.W
wings in a slipstream
lift of a wing behind a propeller
.I 2
.T
heat transfer
.A
.B
.W
conduction of heat in composite slabs
.I 3
.T
shock waves
.A
.B
.W
shock waves ahead of blunt bodies and the heat they bring
.I 4
.T
.A
.B
.W
`)},
		"cran.qry": {Data: []byte(".I 001\n.W\nlift of wings behind propellers .\n.I 004\n.W\nheat conduction in slabs\n.I 009\n.W\nnobody judged this\n")},
		"cranqrel": {Data: []byte("1 1 2\n2 2 3\n2 3 -1\n\n")},
	}
}

func load(t *testing.T) collection {
	t.Helper()
	c, err := loadCranfield(files())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCranfield(t *testing.T) {
	c := load(t)
	if len(c.Documents) != 4 || len(c.Queries) != 3 {
		t.Fatalf("%d documents, %d queries", len(c.Documents), len(c.Queries))
	}
	if want := "wings in a slipstream\nwings in a slipstream\nlift of a wing behind a propeller"; c.Documents[0].Text != want {
		t.Errorf("document 1 is %q, want %q", c.Documents[0].Text, want)
	}
	if want := "heat transfer\nconduction of heat in composite slabs"; c.Documents[1].Text != want {
		t.Errorf("document 2 is %q, want %q", c.Documents[1].Text, want)
	}
	if want := "# heat transfer\n\nconduction of heat in composite slabs"; c.Documents[1].markdown() != want {
		t.Errorf("document 2 in Markdown is %q, want %q", c.Documents[1].markdown(), want)
	}
	if q := c.Queries[1]; q.ID != 2 || q.Text != "heat conduction in slabs" {
		t.Errorf("query 2 is %+v: its id must be its position", q)
	}
	if !c.Relevant[2][2] || !c.Relevant[2][3] || c.Relevant[2][1] || len(c.Relevant) != 2 {
		t.Errorf("judgements %v", c.Relevant)
	}
}

func TestCranfieldRefused(t *testing.T) {
	for name, change := range map[string]func(fstest.MapFS){
		"text before a record": func(f fstest.MapFS) { f["cran.all"].Data = []byte("lift\n.I 1\n") },
		"half a judgement":     func(f fstest.MapFS) { f["cranqrel"].Data = []byte("1\n") },
		"query number":         func(f fstest.MapFS) { f["cranqrel"].Data = []byte("x 1 2\n") },
		"document number":      func(f fstest.MapFS) { f["cranqrel"].Data = []byte("1 x 2\n") },
	} {
		t.Run(name, func(t *testing.T) {
			f := files()
			change(f)
			if _, err := loadCranfield(f); !errors.Is(err, errFormat) {
				t.Errorf("error %v", err)
			}
		})
	}
	for _, name := range []string{"cran.all", "cran.qry", "cranqrel"} {
		t.Run("no "+name, func(t *testing.T) {
			f := files()
			delete(f, name)
			if _, err := loadCranfield(f); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestMeasures(t *testing.T) {
	relevant := map[int]bool{1: true, 2: true, 3: true}
	log2 := math.Log2
	tests := []struct {
		name               string
		ranked             []int
		ndcg, recall, rank float64
	}{
		{"perfect", []int{3, 1, 2, 9}, 1, 1, 1},
		{"second and fourth", []int{9, 1, 8, 2}, (1/log2(3) + 1/log2(5)) / (1 + 1/log2(3) + 1/log2(4)), 2.0 / 3, 0.5},
		{"beyond the depth", []int{10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 1}, 0, 0, 0},
		{"nothing", nil, 0, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := []float64{ndcg(tt.ranked, relevant, 10), recallAt(tt.ranked, relevant, 5), reciprocalRank(tt.ranked, relevant, 10)}
			for i, want := range []float64{tt.ndcg, tt.recall, tt.rank} {
				if math.Abs(got[i]-want) > 1e-12 {
					t.Errorf("measure %d is %v, want %v", i, got[i], want)
				}
			}
		})
	}
	if ndcg([]int{1}, nil, 10) != 0 || recallAt([]int{1}, nil, 5) != 0 {
		t.Error("no relevant documents must give 0")
	}
}

func TestBestChunks(t *testing.T) {
	ranking := []int{2, 2, 1, 2, 3, 1}
	if got := bestChunks(ranking); !slices.Equal(got, []int{2, 1, 3}) {
		t.Errorf("got %v", got)
	}
}

func TestBM25(t *testing.T) {
	b := newBM25([]entry{{ID: 1, Text: "wing wing"}, {ID: 2, Text: "wing drag"}, {ID: 3, Text: "drag"}})
	got, err := b.search("wings")
	if err != nil || !slices.Equal(got, []int{1, 2}) {
		t.Errorf("ranking %v, %v", got, err)
	}
	if got, _ := b.search("the"); len(got) != 0 {
		t.Errorf("ranking %v", got)
	}
}

// TestLexicalModelsFindWhatBM25Finds goes the way of an upload: chunks, vectors, index, and each
// document where its best chunk stands.
func TestLexicalModelsFindWhatBM25Finds(t *testing.T) {
	c := load(t)
	searches := map[string]searchFunc{"BM25": newBM25(c.Documents).search}
	for _, model := range []*lexical.Model{lexical.One, lexical.Two} {
		searches[model.Name] = searchBy(t, model, c)
	}
	for name, s := range searches {
		t.Run(name, func(t *testing.T) {
			q, err := evaluate(c, s)
			if want := (quality{Queries: 2, NDCG10: 1, Recall5: 1, MRR: 1, Curve: curve{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}}); err != nil || q != want {
				t.Errorf("quality %+v, %v, want %+v", q, err, want)
			}
		})
	}
}

func searchBy(t *testing.T, model *lexical.Model, c collection) searchFunc {
	t.Helper()
	b, id := vector.NewSparseBuilder(model, nil), int64(0)
	for _, d := range c.Documents {
		unmarked := func(func(chunk.Mark, error) bool) {}
		for k, err := range chunk.All(strings.NewReader(d.Text), unmarked, chunk.Options{Size: chunk.MinSize, Overlap: 0.2}) {
			if err != nil {
				t.Fatal(err)
			}
			id++
			b.Add(vector.SparseRow{Chunk: id, Document: int64(d.ID), Vector: model.Embed(k.Content)})
		}
	}
	index := b.Build()
	return func(query string) ([]int, error) {
		var documents []int
		for _, h := range index.Search(model.Embed(query), vector.Filter{Top: 50}) {
			documents = append(documents, int(h.Document))
		}
		return bestChunks(documents), nil
	}
}

func TestEvaluateHandsOnErrors(t *testing.T) {
	broken := errors.New("broken")
	if _, err := evaluate(load(t), func(string) ([]int, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

func TestJoin(t *testing.T) {
	c := collection{Relevant: map[int]map[int]bool{7: {1: true, 5: true}, 8: {4: true}}}
	for id := 1; id <= 5; id++ {
		c.Documents = append(c.Documents, entry{ID: id, Text: string(rune('a' + id - 1))})
	}
	long := c.join(2)
	if len(long.Documents) != 3 || long.Documents[0].Text != "a\n\nb\n\n" || long.Documents[2].Text != "e\n\n" {
		t.Errorf("%v", long.Documents)
	}
	if r := long.Relevant; len(r[7]) != 2 || !r[7][1] || !r[7][3] || len(r[8]) != 1 || !r[8][2] {
		t.Errorf("%v", long.Relevant)
	}
}

// TestJoinTakesEachOnce, also where the number of documents has the usual step for a divisor.
func TestJoinTakesEachOnce(t *testing.T) {
	for _, count := range []int{1, 100, 101, 202, 1400} {
		c := collection{}
		for id := range count {
			c.Documents = append(c.Documents, entry{ID: id, Text: "."})
		}
		dots := 0
		for _, long := range c.join(12).Documents {
			dots += strings.Count(long.Text, ".")
		}
		known := map[int]bool{}
		for i := range count {
			known[i*stride(count)%count] = true
		}
		if dots != count || len(known) != count {
			t.Errorf("%d documents: %d texts, %d of them different", count, dots, len(known))
		}
	}
}
