package embed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"canopy/internal/models/openai"
)

// Default limits of a batch: those of OpenAI, but for the bytes, which are those of the strictest
// common server.
const (
	DefaultMaxInputs        = 2048
	DefaultMaxInputTokens   = 8192
	DefaultMaxRequestTokens = 300_000
	DefaultMaxRequestBytes  = 2_000_000
)

// Bounds of an answer: the longest vector that is taken, in components, the room of a component as
// JSON and the longest answer of all, in bytes.
const (
	maxDimensions = 16384
	floatBytes    = 32
	maxAnswer     = 256 << 20
)

// patience is after how many batches larger ones are tried again: one refused text does not slow down
// all later ones, and a server with a lower limit is not asked in vain each time.
const patience = 8

// Options of a remote model.
type Options struct {
	Server openai.Config
	Model  string // its name, sent as it is
	// Dimensions that every vector must have; 0 takes them from the first answer. They are sent to
	// the server only with SendDimensions, as many refuse them.
	Dimensions     int
	SendDimensions bool
	// Limits of one request; 0 means the default.
	MaxInputs        int
	MaxInputTokens   int
	MaxRequestTokens int
	MaxRequestBytes  int // of the texts as JSON
	// CountTokens counts the tokens of a text; nil estimates one for every three bytes.
	CountTokens func(text string) int
}

// Remote is a model behind an OpenAI-compatible server. It is safe for concurrent use.
type Remote struct {
	options    Options
	client     *openai.Client
	dimensions atomic.Int64
}

var _ Model = (*Remote)(nil)

// NewRemote checks the options; the error is openai.ErrConfig.
func NewRemote(options Options) (*Remote, error) {
	if options.Model == "" {
		return nil, fmt.Errorf("%w: the embedding model has no name", openai.ErrConfig)
	}
	if options.Dimensions < 0 || options.Dimensions > maxDimensions {
		return nil, fmt.Errorf("%w: %d dimensions", openai.ErrConfig, options.Dimensions)
	}
	client, err := openai.New(options.Server)
	if err != nil {
		return nil, err
	}
	for limit, value := range map[*int]int{
		&options.MaxInputs:        DefaultMaxInputs,
		&options.MaxInputTokens:   DefaultMaxInputTokens,
		&options.MaxRequestTokens: DefaultMaxRequestTokens,
		&options.MaxRequestBytes:  DefaultMaxRequestBytes,
	} {
		if *limit <= 0 {
			*limit = value
		}
	}
	if options.CountTokens == nil {
		options.CountTokens = func(text string) int { return len(text)/3 + 1 }
	}
	r := &Remote{options: options, client: client}
	r.dimensions.Store(int64(options.Dimensions))
	return r, nil
}

// Name returns the model's name.
func (r *Remote) Name() string { return r.options.Model }

// Dimensions returns the length of the vectors; 0 before the first answer when it was not given.
func (r *Remote) Dimensions() int { return int(r.dimensions.Load()) }

// Metered implements Model.
func (r *Remote) Metered() bool { return true }

// Close closes idle connections.
func (r *Remote) Close() { r.client.CloseIdle() }

// Embed implements Model.
func (r *Remote) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, 0, len(texts))
	err := r.Batches(ctx, texts, func(_ int, batch [][]float32) error {
		vectors = append(vectors, batch...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return vectors, nil
}

// Batches implements Model. No text is sent before all of them have been checked: a text without
// content or beyond the model's length is an error (*TextError with ErrEmpty or ErrTooLong), as some
// servers would cut it in silence.
func (r *Remote) Batches(ctx context.Context, texts []string, done func(first int, vectors [][]float32) error) error {
	finished := 0
	err := r.each(ctx, texts, func(first int, vectors [][]float32) error {
		if err := done(first, vectors); err != nil {
			return err
		}
		finished = first + len(vectors)
		return nil
	})
	if err != nil {
		return &PartialError{Done: finished, Total: len(texts), Err: err}
	}
	return nil
}

func (r *Remote) each(ctx context.Context, texts []string, done func(int, [][]float32) error) error {
	sizes, err := r.measure(texts)
	if err != nil {
		return err
	}
	most, good := r.options.MaxInputs, 0 // texts of a batch, batches in a row that were taken
	for first := 0; first < len(texts); {
		n := min(most, r.fitting(sizes[first:]))
		vectors, err := r.request(ctx, texts[first:first+n])
		if refused(err) {
			if n == 1 {
				return &TextError{Index: first, Err: fmt.Errorf("%w: %w", ErrRefused, err)}
			}
			most, good = n/2, 0
			continue
		}
		if err != nil {
			return err
		}
		if err := done(first, vectors); err != nil {
			return err
		}
		first += n
		if good++; good%patience == 0 {
			most = min(r.options.MaxInputs, 2*most)
		}
	}
	return nil
}

// refused tells whether a smaller batch can succeed: servers answer so to too many or too long
// texts.
func refused(err error) bool {
	var status *openai.StatusError
	if !errors.As(err, &status) {
		return false
	}
	return slices.Contains([]int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity}, status.Status)
}

// extent of a text in a request.
type extent struct{ tokens, bytes int }

func (r *Remote) measure(texts []string) ([]extent, error) {
	sizes := make([]extent, len(texts))
	for i, text := range texts {
		if strings.TrimSpace(text) == "" {
			return nil, &TextError{Index: i, Err: ErrEmpty}
		}
		quoted, err := json.Marshal(text)
		if err != nil {
			return nil, &TextError{Index: i, Err: err}
		}
		sizes[i] = extent{tokens: r.options.CountTokens(text), bytes: len(quoted) + 1}
		if sizes[i].tokens > r.options.MaxInputTokens {
			return nil, &TextError{Index: i, Err: fmt.Errorf("%w: %d tokens of at most %d", ErrTooLong, sizes[i].tokens, r.options.MaxInputTokens)}
		}
	}
	return sizes, nil
}

// fitting returns how many of the next texts one request takes, at least one.
func (r *Remote) fitting(sizes []extent) int {
	tokens, bytes := 0, 0
	for i, s := range sizes {
		tokens += s.tokens
		bytes += s.bytes
		if i > 0 && (tokens > r.options.MaxRequestTokens || bytes > r.options.MaxRequestBytes) {
			return i
		}
	}
	return len(sizes)
}

type embeddingRequest struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Dimensions int      `json:"dimensions,omitempty"`
}

type embeddingAnswer struct {
	Data []struct {
		Index     *int      `json:"index"`
		Embedding []float32 `json:"embedding"`
	} `json:"data"`
}

// request embeds one batch.
func (r *Remote) request(ctx context.Context, texts []string) ([][]float32, error) {
	body := embeddingRequest{Model: r.options.Model, Input: texts}
	if r.options.SendDimensions {
		body.Dimensions = r.options.Dimensions
	}
	content, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	var answer embeddingAnswer
	if err := r.client.Post(ctx, "/embeddings", content, &answer, r.answerLimit(len(texts))); err != nil {
		return nil, err
	}
	return r.vectors(answer, len(texts))
}

// answerLimit is the length that an answer with n vectors can have, in bytes.
func (r *Remote) answerLimit(n int) int64 {
	dimensions := r.dimensions.Load()
	if dimensions == 0 {
		dimensions = maxDimensions
	}
	return min(maxAnswer, 1<<20+int64(n)*dimensions*floatBytes)
}

// vectors puts an answer in the order of the texts and checks it.
func (r *Remote) vectors(answer embeddingAnswer, n int) ([][]float32, error) {
	if len(answer.Data) != n {
		return nil, fmt.Errorf("%w: %d for %d texts", ErrCount, len(answer.Data), n)
	}
	vectors := make([][]float32, n)
	for i, d := range answer.Data {
		at := i
		if d.Index != nil {
			at = *d.Index
		}
		if at < 0 || at >= n || vectors[at] != nil {
			return nil, fmt.Errorf("%w: index %d is not one of %d, or twice", ErrCount, at, n)
		}
		if err := r.checkLength(len(d.Embedding)); err != nil {
			return nil, err
		}
		vectors[at] = d.Embedding
	}
	return vectors, nil
}

// checkLength holds every vector to the model's dimensions; the first one sets them where they were
// not given.
func (r *Remote) checkLength(n int) error {
	if n == 0 || n > maxDimensions {
		return fmt.Errorf("%w: %d", ErrDimensions, n)
	}
	r.dimensions.CompareAndSwap(0, int64(n))
	if want := r.dimensions.Load(); int64(n) != want {
		return fmt.Errorf("%w: %d, not %d", ErrDimensions, n, want)
	}
	return nil
}
