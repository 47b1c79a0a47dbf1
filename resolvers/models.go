package resolvers

import (
	"canopy/internal/embed/lexical"
	"canopy/internal/problem"
)

// defaultModel is the embedding model of new contexts: the configured server's, otherwise the
// embedded one.
func (r *Resolver) defaultModel() string {
	if r.Embeddings != nil {
		return r.Embeddings.Name()
	}
	return lexical.Name
}

// modelConfigured tells whether texts can be embedded with a model.
func (r *Resolver) modelConfigured(name string) bool {
	return name == lexical.Name || r.Embeddings != nil && r.Embeddings.Name() == name
}

// modelNames lists the models for a person.
func (r *Resolver) modelNames() string {
	if r.Embeddings != nil {
		return lexical.Name + " and " + r.Embeddings.Name()
	}
	return lexical.Name
}

// needModel refuses a model that is not configured.
func (r *Resolver) needModel(name string) error {
	if r.modelConfigured(name) {
		return nil
	}
	return problem.Bad("the context's embedding model %q is not configured on this server", clip(name)).With("model_not_configured")
}
