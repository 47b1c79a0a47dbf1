package search

import (
	"strings"

	"canopy/internal/models/chat"
	"canopy/internal/models/embed"
	"canopy/internal/models/lexical"
	"canopy/internal/models/rerank"
	"canopy/internal/problem"
)

// Models are those of a server: the embedded ones that compare words, and those that are configured.
type Models struct {
	// Embeddings is the configured model; nil where there is none.
	Embeddings embed.Model
	// Chat writes answers; nil where there is none.
	Chat *chat.Client
	// Rerank orders hits anew; nil where there is none.
	Rerank *rerank.Client
}

// Default is the embedding model of new contexts: the configured server's, otherwise the embedded
// one.
func (m Models) Default() string {
	if m.Embeddings != nil {
		return m.Embeddings.Name()
	}
	return lexical.Two.Name
}

// Configured tells whether texts can be embedded with a model.
func (m Models) Configured(name string) bool {
	return lexical.Named(name) != nil || m.Embeddings != nil && m.Embeddings.Name() == name
}

// Names lists the models for a person.
func (m Models) Names() string {
	names := lexical.Names()
	if m.Embeddings != nil {
		names = append(names, m.Embeddings.Name())
	}
	return strings.Join(names, ", ")
}

// need refuses a model that is not configured.
func (m Models) need(name string) error {
	if m.Configured(name) {
		return nil
	}
	return problem.Bad("the context's embedding model %q is not configured on this server", name).With("model_not_configured")
}
