package search

import (
	"context"
	"log/slog"
	"strings"
	"time"
)

// The bounds of what a server orders anew: hits of one search, bytes of one that it is sent, and how long it is left alone when it has failed.
const (
	rerankHits  = 50
	rerankBytes = 4 << 10
	rerankRest  = 10 * time.Second
)

// candidates is how many hits are looked for, where so many are wanted.
func (e *Engine) candidates(top int) int {
	if e.Rerank == nil || time.Now().UnixNano() < e.rerankFrom.Load() {
		return top
	}
	return max(top, rerankHits)
}

// rerank puts hits in the order of the server that is configured for it, and keeps as many as are wanted. Where it fails they keep their
// own, and it is not asked for a while: a search does without.
func (e *Engine) rerank(ctx context.Context, q Query, hits []*Hit, top int) []*Hit {
	ordered := hits
	if e.Rerank != nil && len(hits) > 1 && time.Now().UnixNano() >= e.rerankFrom.Load() {
		texts := make([]string, len(hits))
		for i, h := range hits {
			texts[i] = rerankText(h)
		}
		order, err := e.Rerank.Order(ctx, q.Prompt, texts)
		switch {
		case err == nil:
			ordered = make([]*Hit, len(hits))
			for i, at := range order {
				ordered[i] = hits[at]
			}
		case ctx.Err() == nil:
			e.rerankFrom.Store(time.Now().Add(rerankRest).UnixNano())
			slog.WarnContext(ctx, "hits are not ordered anew: the reranker fails", "error", err, "pause", rerankRest)
		}
	}
	return ordered[:min(top, len(ordered))]
}

// rerankText is what a hit is judged by: its headings and its content.
func rerankText(h *Hit) string {
	text := h.Content
	if h.Passage.Heading != "" {
		text = h.Passage.Heading + "\n" + text
	}
	if len(text) > rerankBytes {
		text = strings.ToValidUTF8(text[:rerankBytes], "")
	}
	return text
}
