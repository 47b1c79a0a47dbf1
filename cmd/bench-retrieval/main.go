// Command bench-retrieval measures how well search finds what people judged relevant, on a test
// collection in Cranfield's format, beside BM25 over the same words. The documents go the way of any
// other: uploaded by REST, chunked, embedded and searched by a `canopy dev` of its own. `make
// bench-retrieval DATA=folder` runs it.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"text/tabwriter"
	"time"
)

func main() {
	binary := flag.String("canopy", "bin/canopy", "the program to measure")
	data := flag.String("data", "", "folder with cran.all, cran.qry and cranqrel")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *binary, *data, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench-retrieval:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, binary, data string, out io.Writer) error {
	c, err := loadCranfield(os.DirFS(data))
	if err != nil {
		return err
	}
	p, err := start(ctx, binary)
	if err != nil {
		return err
	}
	defer p.stop()
	begun := time.Now()
	s, err := p.index(ctx, c.Documents)
	if err != nil {
		return err
	}
	took := time.Since(begun)
	begun = time.Now()
	ours, err := evaluate(c, func(query string) ([]int, error) { return s.search(ctx, query) })
	if err != nil {
		return err
	}
	each := time.Since(begun) / time.Duration(ours.Queries)
	reference, err := evaluate(c, newBM25(c.Documents).search)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "%d documents processed in %.1f s (%d chunks), %d queries, %.1f ms each over REST\n\n",
		len(c.Documents), took.Seconds(), s.chunks, ours.Queries, float64(each.Microseconds())/1000)
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(w, "\tnDCG@10\trecall@5\tMRR\t")
	for _, row := range []struct {
		name string
		quality
	}{{s.model, ours}, {"BM25", reference}} {
		_, _ = fmt.Fprintf(w, "%s\t%.4f\t%.4f\t%.4f\t\n", row.name, row.NDCG10, row.Recall5, row.MRR)
	}
	_, _ = fmt.Fprintf(w, "of BM25\t%.1f%%\t%.1f%%\t%.1f%%\t\n",
		100*ours.NDCG10/reference.NDCG10, 100*ours.Recall5/reference.Recall5, 100*ours.MRR/reference.MRR)
	return w.Flush()
}
