package search

import (
	"strings"

	"canopy/internal/models/chat"
	"canopy/internal/models/embed"
	"canopy/internal/models/lexical"
	"canopy/internal/models/rerank"
	"canopy/internal/models/static"
	"canopy/internal/problem"
)

// Models are those of a server: the embedded ones, and those that are configured.
type Models struct {
	// Embeddings is the configured model of embeddings; nil where there is none.
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
	return lexical.Named(name) != nil || m.Dense(name) != nil
}

// meanings is the embedded model of meanings.
var meanings = static.New()

// Dense gives the model of a name that makes dense vectors; nil where it makes none, or is not configured.
func (m Models) Dense(name string) embed.Model {
	switch {
	case name == static.Name:
		return meanings
	case m.Embeddings != nil && m.Embeddings.Name() == name:
		return m.Embeddings
	}
	return nil
}

// embedded tells whether a model is one of the program's own. Each of these has one ranking, whether words are asked for beside it or not.
func embedded(name string) bool { return lexical.Named(name) != nil || name == static.Name }

// Names lists the models for a person.
func (m Models) Names() string {
	names := append(lexical.Names(), static.Name)
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
