// Package rule says who may use which field of the graph. The schema declares it with @needs, and
// nothing else does: rules_gen.go is written from there by `go generate ./graph`.
package rule

import (
	"slices"
	"strings"

	"canopy/internal/access"
)

// Rule is who may use one field: a caller whose token serves one of the applications, with a role
// there that has the right.
type Rule struct {
	// Field is what the rule was declared for: "Mutation.createPermission".
	Field string
	// Apps are the applications, in the order in which the caller's roles are looked at.
	Apps []access.App
	// Right is 0 where none is asked for.
	Right access.Features
}

// Identity is Me for tenant management: REST has it among the endpoints of that application, which
// refuse the tokens for others.
var Identity = Me.only(access.Tenant)

// only is the rule for tokens of one application.
func (r *Rule) only(app access.App) *Rule {
	return &Rule{Field: r.Field, Apps: []access.App{app}, Right: r.Right}
}

// All lists the declared rules, in the order of the schema.
func All() []*Rule { return slices.Clone(all) }

// Changes tells whether the field is one that changes something, and does not only read.
func (r *Rule) Changes() bool { return strings.HasPrefix(r.Field, "Mutation.") }

// OfData tells whether the field is about what companies have, which lives in the cell of their region, and not about who they are.
func (r *Rule) OfData() bool {
	const rights = access.ContextRead | access.ContextWrite | access.AgentRead | access.AgentWrite | access.AgentRun | access.WebhookRead | access.WebhookWrite
	return r.Right&rights != 0
}

// AtHome tells whether the field changes what is one for all cells of a platform: who is who. An archive is made where the company lives.
func (r *Rule) AtHome() bool { return r.Changes() && !r.OfData() && r != ExportCustomer }

var byField = func() map[string]*Rule {
	m := make(map[string]*Rule, len(all))
	for _, r := range all {
		m[r.Field] = r
	}
	return m
}()

// Of gives the rule that was declared for a field, named as in Rule.Field; nil where there is none.
func Of(field string) *Rule { return byField[field] }

// Sentence says the rule in words, as the documents of both doors have it.
func (r *Rule) Sentence() string {
	apps := "a token for any application"
	if len(r.Apps) < len(access.Apps()) {
		names := make([]string, len(r.Apps))
		for i, app := range r.Apps {
			names[i] = "`" + app.String() + "`"
		}
		apps = "a token for " + strings.Join(names, " or ")
	}
	if r.Right == 0 {
		return "Takes " + apps + "."
	}
	return "Needs the right `" + r.Right.Names()[0] + "`, with " + apps + "."
}
