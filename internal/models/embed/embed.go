// Package embed turns texts into dense vectors with a model behind an OpenAI-compatible
// /v1/embeddings. The embedded models are in packages of their own: lexical, whose vectors are sparse, and static.
package embed

import (
	"context"
	"errors"
	"fmt"
)

// Model makes dense vectors of texts.
type Model interface {
	// Name is the model's name in a context's embeddingModel.
	Name() string
	// Dimensions is the number of components of every vector; 0 while it is not known.
	Dimensions() int
	// Metered tells whether each text costs what somebody pays for or waits for.
	Metered() bool
	// Embed returns a vector for each text, in their order. On failure it returns none; see Batches
	// to keep what is done.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	// Batches embeds the texts in order and calls done after each batch with the number of the
	// batch's first text and the vectors. An error of done ends it. After any failure the error is a
	// *PartialError.
	Batches(ctx context.Context, texts []string, done func(first int, vectors [][]float32) error) error
}

// Errors of a model, told apart with errors.Is.
var (
	ErrEmpty      = errors.New("embed: a text without content cannot be embedded")
	ErrTooLong    = errors.New("embed: the text is longer than the model takes")
	ErrRefused    = errors.New("embed: the model server refused the text")
	ErrCount      = errors.New("embed: the model server returned another number of vectors")
	ErrDimensions = errors.New("embed: the model server returned vectors of another length")
)

// PartialError tells how far embedding came before it failed.
type PartialError struct {
	Done  int // texts, from the first, whose vectors were handed over
	Total int
	Err   error
}

func (e *PartialError) Error() string {
	return fmt.Sprintf("%d of %d texts embedded: %v", e.Done, e.Total, e.Err)
}

func (e *PartialError) Unwrap() error { return e.Err }

// TextError is a failure that one text is the cause of.
type TextError struct {
	Index int // of the text
	Err   error
}

func (e *TextError) Error() string { return fmt.Sprintf("text %d: %v", e.Index, e.Err) }

func (e *TextError) Unwrap() error { return e.Err }
