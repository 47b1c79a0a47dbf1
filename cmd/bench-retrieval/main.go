// Command bench-retrieval measures how well search finds what people judged relevant, on a test
// collection in Cranfield's or BEIR's format, in each mode and beside BM25 over the same words. The documents go
// the way of any other: uploaded by REST, chunked, embedded and searched by a `canopy dev` of its own, with the
// embedding model that the environment configures. `make bench-retrieval DATA=folder` runs it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"syscall"
	"text/tabwriter"
	"time"

	"canopy/internal/models/lexical"
	"canopy/internal/models/static"
	"canopy/search"
)

func main() {
	binary := flag.String("canopy", "bin/canopy", "the program to measure")
	data := flag.String("data", "", "folder with cran.all, cran.qry and cranqrel, or with corpus.jsonl, queries.jsonl and qrels/test.tsv")
	picture := flag.String("picture", "", "file for a picture (SVG) of precision over recall")
	chunk := flag.Int("chunk", 0, "cut documents, with their titles as headings, into chunks of so many tokens; 0 for a context's own size and plain texts")
	model := flag.String("model", "", "embedding model of the context; that of new contexts where it is not given")
	joined := flag.Int("join", 1, "make long documents of so many each")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *binary, *data, *picture, *model, *chunk, *joined, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench-retrieval:", err)
		os.Exit(1)
	}
}

// loadAny reads a collection of either format.
func loadAny(dir fs.FS) (collection, error) {
	if _, err := fs.Stat(dir, "corpus.jsonl"); err == nil {
		return loadBEIR(dir)
	}
	return loadCranfield(dir)
}

func run(ctx context.Context, binary, data, picture, model string, chunk, joined int, out io.Writer) error {
	c, err := loadAny(os.DirFS(data))
	if err != nil {
		return err
	}
	if joined > 1 {
		c = c.join(joined)
	}
	p, err := start(ctx, binary)
	if err != nil {
		return err
	}
	defer p.stop()
	begun := time.Now()
	s, err := p.index(ctx, c.Documents, chunk, model)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "%d documents processed in %.1f s (%d chunks)\n\n", len(c.Documents), time.Since(begun).Seconds(), s.chunks)
	rows, err := measure(ctx, c, s)
	if err != nil {
		return err
	}
	if err := table(out, rows); err != nil || picture == "" {
		return err
	}
	f, err := os.Create(picture)
	if err != nil {
		return err
	}
	return errors.Join(drawCurves(f, rows), f.Close())
}

// measure asks all queries in each mode, which are one where the model is an embedded one, and of BM25, which is the last row.
func measure(ctx context.Context, c collection, s *searcher) (rows []row, err error) {
	modes := search.Modes
	switch {
	case lexical.Named(s.model) != nil:
		modes = []search.Mode{search.Semantic}
	case s.model == static.Name:
		modes = []search.Mode{search.Semantic, search.Lexical}
	}
	for _, mode := range modes {
		name := s.model
		if len(modes) > 1 {
			name = string(mode)
		}
		begun := time.Now()
		q, err := evaluate(c, func(query string) ([]int, error) { return s.search(ctx, query, mode) })
		if err != nil {
			return nil, err
		}
		q.Each = time.Since(begun) / time.Duration(max(1, q.Queries))
		rows = append(rows, row{name, q})
	}
	q, err := evaluate(c, newBM25(c.Documents).search)
	return append(rows, row{"BM25", q}), err
}

// table prints what was measured, also in parts of the last row's.
func table(out io.Writer, rows []row) error {
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(w, "\tnDCG@10\trecall@5\tMRR\tof BM25\tms over REST\t")
	last := rows[len(rows)-1]
	for _, r := range rows {
		took := ""
		if r.Each > 0 {
			took = fmt.Sprintf("%.1f", float64(r.Each.Microseconds())/1000)
		}
		_, _ = fmt.Fprintf(w, "%s\t%.4f\t%.4f\t%.4f\t%.1f%%\t%s\t\n", r.name, r.NDCG10, r.Recall5, r.MRR, 100*r.NDCG10/last.NDCG10, took)
	}
	_, _ = fmt.Fprintf(w, "\n%d queries\n", last.Queries)
	return w.Flush()
}
