// Package rerank asks a server how well texts answer a query: in the form of Cohere and Jina, or in that of Hugging Face's
// text-embeddings-inference, which has one model alone.
package rerank

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"canopy/internal/models/openai"
)

// maxAnswer is the longest answer that is taken, in bytes: some servers repeat the texts.
const maxAnswer = 8 << 20

// timeout is how long a search waits for the server. It is asked once.
const timeout = 5 * time.Second

// Client asks one server. It is safe for concurrent use.
type Client struct {
	model  string
	client *openai.Client
}

// New checks a configuration; the error is openai.ErrConfig. Without a model the server is text-embeddings-inference.
func New(server openai.Config, model string) (*Client, error) {
	server.Timeout, server.Attempts = cmp.Or(server.Timeout, timeout), 1
	server.Unversioned = model == ""
	client, err := openai.New(server)
	if err != nil {
		return nil, err
	}
	return &Client{model, client}, nil
}

// Close closes idle connections.
func (c *Client) Close() { c.client.CloseIdle() }

// Order gives the indices of texts, the best for the query first. Those that the server leaves out come last, in their order. The error is
// the context's, or one of package openai.
func (c *Client) Order(ctx context.Context, query string, texts []string) ([]int, error) {
	body, err := json.Marshal(c.request(query, texts))
	if err != nil {
		return nil, err
	}
	var got scores
	if err := c.client.Post(ctx, "/rerank", body, &got, maxAnswer); err != nil {
		return nil, err
	}
	return got.order(len(texts))
}

func (c *Client) request(query string, texts []string) any {
	if c.model == "" {
		return struct {
			Query    string   `json:"query"`
			Texts    []string `json:"texts"`
			Truncate bool     `json:"truncate"`
		}{query, texts, true}
	}
	return struct {
		Model     string   `json:"model"`
		Query     string   `json:"query"`
		Documents []string `json:"documents"`
		TopN      int      `json:"top_n"`
	}{c.model, query, texts, len(texts)}
}

// scores is what a server tells.
type scores []struct {
	Index     *int     `json:"index"`
	Score     *float64 `json:"score"`
	Relevance *float64 `json:"relevance_score"`
}

// UnmarshalJSON takes a list, or an object whose member results is one.
func (s *scores) UnmarshalJSON(content []byte) error {
	type list scores
	if bytes.HasPrefix(bytes.TrimSpace(content), []byte("[")) {
		return json.Unmarshal(content, (*list)(s))
	}
	var body struct {
		Results *list `json:"results"`
	}
	body.Results = (*list)(s)
	return json.Unmarshal(content, &body)
}

// order sorts by the scores. An index that there is not, or that is told twice, or without a score, makes the answer unusable.
func (s scores) order(count int) ([]int, error) {
	byIndex := make(map[int]float64, len(s))
	for _, one := range s {
		score := one.Relevance
		if score == nil {
			score = one.Score
		}
		if one.Index == nil || score == nil || *one.Index < 0 || *one.Index >= count {
			return nil, fmt.Errorf("%w: a score of none of the texts", openai.ErrAnswer)
		}
		if _, twice := byIndex[*one.Index]; twice {
			return nil, fmt.Errorf("%w: two scores of one text", openai.ErrAnswer)
		}
		byIndex[*one.Index] = *score
	}
	if len(byIndex) == 0 && count > 0 {
		return nil, fmt.Errorf("%w: no scores", openai.ErrAnswer)
	}
	order := make([]int, count)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		of, told := byIndex[a]
		other, too := byIndex[b]
		switch {
		case told != too && told:
			return -1
		case told != too:
			return 1
		}
		return cmp.Compare(other, of)
	})
	return order, nil
}
