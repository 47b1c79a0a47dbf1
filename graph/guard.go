package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler/lru"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"

	"canopy/internal/problem"
)

// The limits of a document. Fields, aliases and directives are counted as fragments expand to;
// what is far from them comes from no front end.
const (
	maxTokens     = 10_000
	maxFields     = 2_000
	maxDepth      = 20
	maxAliases    = 200
	maxDirectives = 100
	maxRootFields = 50
	// maxSpreads is how many fragments are spread, and maxAlike how many fields come together at one place of an answer: validation
	// compares each with each.
	maxSpreads = 300
	maxAlike   = 150
	// maxQuery is in bytes: comments are no tokens, but would be kept with the document.
	maxQuery = 256 << 10
	// saturated is where counting stops: a kilobyte of nested fragments can expand to more than
	// any integer holds.
	saturated = 1 << 20
)

// guard refuses costly documents before they are validated, in time that is linear in their
// length: validation itself takes exponential time for some.
type guard struct{ passed graphql.Cache[struct{}] }

var (
	_ graphql.HandlerExtension          = guard{}
	_ graphql.OperationParameterMutator = guard{}
)

func newGuard() guard { return guard{lru.New[struct{}](cachedQueries)} }

func (guard) ExtensionName() string                   { return "DocumentGuard" }
func (guard) Validate(graphql.ExecutableSchema) error { return nil }

// MutateOperationParameters runs after persisted queries have been filled in.
func (g guard) MutateOperationParameters(ctx context.Context, p *graphql.RawParams) *gqlerror.Error {
	if _, ok := g.passed.Get(ctx, p.Query); ok {
		return nil
	}
	if len(p.Query) > maxQuery {
		return face(ctx, problem.Bad("the query is longer than %d bytes", maxQuery))
	}
	doc, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: p.Query}, maxTokens)
	if err != nil {
		return nil // gqlgen parses it again and tells of the fault itself
	}
	m := measure{doc: doc, fragments: map[string]*size{}}
	for _, op := range doc.Operations {
		if err := m.operation(op); err != nil {
			return face(ctx, err)
		}
	}
	if err := m.rest(); err != nil {
		return face(ctx, err)
	}
	g.passed.Add(ctx, p.Query, struct{}{})
	return nil
}

// size is what a selection expands to.
type size struct{ roots, fields, depth, aliases, directives int }

func (s *size) add(t size) {
	s.roots = min(s.roots+t.roots, saturated)
	s.fields = min(s.fields+t.fields, saturated)
	s.aliases = min(s.aliases+t.aliases, saturated)
	s.directives = min(s.directives+t.directives, saturated)
	s.depth = max(s.depth, t.depth)
}

// measure sizes up a document, each fragment once.
type measure struct {
	doc       *ast.QueryDocument
	fragments map[string]*size
	// written and spreads are the fields and spreads of the whole document as it is written.
	written, spreads int
}

// rest judges what counts of the document as a whole, with the fragments that no operation uses: validation reads them, too.
func (m *measure) rest() *problem.Error {
	for _, f := range m.doc.Fragments {
		if m.fragment(f.Name).fields > maxFields {
			return problem.Bad("the fragment %s selects more than %d fields", f.Name, maxFields)
		}
	}
	switch {
	case m.written > maxFields:
		return problem.Bad("the document has more than %d fields", maxFields)
	case m.spreads > maxSpreads:
		return problem.Bad("the document spreads more than %d fragments", maxSpreads)
	case crowded(m.doc):
		return problem.Bad("more than %d fields of one name come together at one place of the answer", maxAlike)
	}
	return nil
}

func (m *measure) operation(op *ast.OperationDefinition) *problem.Error {
	n := m.set(op.SelectionSet)
	switch {
	case n.roots > maxRootFields:
		return problem.Bad("the operation asks for more than %d fields at its root", maxRootFields)
	case n.depth > maxDepth:
		return problem.Bad("the operation is nested more than %d levels deep", maxDepth)
	case n.fields > maxFields:
		return problem.Bad("the operation selects more than %d fields", maxFields)
	case n.aliases > maxAliases:
		return problem.Bad("the operation uses more than %d aliases", maxAliases)
	case n.directives > maxDirectives:
		return problem.Bad("the operation uses more than %d directives", maxDirectives)
	}
	return nil
}

func (m *measure) set(set ast.SelectionSet) (total size) {
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			total.add(m.field(s))
		case *ast.InlineFragment:
			inner := m.set(s.SelectionSet)
			inner.directives += len(s.Directives)
			total.add(inner)
		case *ast.FragmentSpread:
			m.spreads++
			inner := m.fragment(s.Name)
			inner.directives += len(s.Directives)
			total.add(inner)
		}
	}
	return total
}

func (m *measure) field(f *ast.Field) size {
	m.written++
	n := m.set(f.SelectionSet)
	n.roots = 1
	n.depth++
	n.fields++
	n.directives += len(f.Directives)
	if f.Alias != f.Name {
		n.aliases++
	}
	return n
}

// fragment sizes a fragment up once. A fragment within itself counts once, too; validation
// refuses it.
func (m *measure) fragment(name string) size {
	known, seen := m.fragments[name]
	if seen {
		if known == nil {
			return size{}
		}
		return *known
	}
	m.fragments[name] = nil
	var n size
	if f := m.doc.Fragments.ForName(name); f != nil {
		n = m.set(f.SelectionSet)
	}
	m.fragments[name] = &n
	return n
}
