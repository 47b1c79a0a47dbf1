package importer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// waitEvery is how often documents on their way are looked at.
const waitEvery = 300 * time.Millisecond

// waited is what is asked of a document on its way.
type waited struct {
	DisplayName, Status string
	Progress            float64
	Error               string
}

// wait waits until no document of the context is on its way any more, and tells what became of them.
func (i *Importer) wait(ctx context.Context) error {
	bar := i.bar(1000, false)
	for {
		var list []waited
		if err := i.Client.Call(ctx, http.MethodGet, fmt.Sprintf("/context/documents/%d", i.Context), nil, &list); err != nil {
			return err
		}
		var done float64
		open := 0
		for _, d := range list {
			switch d.Status {
			case "ready", "failed":
				done++
			default:
				open++
				done += d.Progress
			}
		}
		if open == 0 {
			_ = bar.Finish()
			return i.outcome(list)
		}
		bar.Describe(shorten(fmt.Sprintf("processing %d of %d", open, len(list))))
		_ = bar.Set(int(1000 * done / float64(len(list))))
		select {
		case <-ctx.Done():
			return errors.New("interrupted; the documents are processed all the same")
		case <-time.After(waitEvery):
		}
	}
}

// processed is what became of a context's documents.
type processed struct {
	Ready  int      `json:"ready"`
	Failed []string `json:"failed"`
}

func (i *Importer) outcome(list []waited) error {
	i.processed = &processed{Failed: []string{}}
	for _, d := range list {
		if d.Status == "failed" {
			i.processed.Failed = append(i.processed.Failed, d.DisplayName+": "+d.Error)
		}
	}
	failed := len(i.processed.Failed)
	i.processed.Ready = len(list) - failed
	if i.JSON == nil {
		for _, line := range i.processed.Failed {
			_, _ = fmt.Fprintln(i.Out, "  "+line)
		}
		_, _ = fmt.Fprintf(i.Out, "%d documents are ready, %d failed\n", i.processed.Ready, failed)
	}
	if failed > 0 {
		return fmt.Errorf("%d documents could not be read", failed)
	}
	return nil
}
