package resolvers

import (
	"context"

	"canopy/internal/access"
	"canopy/internal/problem"
	"canopy/internal/rule"
)

// caller is who is allowed to do the operation at hand: the principal, with its grant in the
// operation's application.
type caller struct {
	*access.Principal
	*access.Grant
}

// may is the first line of an operation: it gives the caller, when the rule lets it at this moment.
func (r *Resolver) may(ctx context.Context, need *rule.Rule) (*caller, error) {
	p, err := r.present(ctx)
	if err != nil {
		return nil, err
	}
	g, err := grantFor(p, need)
	if err != nil {
		return nil, err
	}
	if err := r.answersFor(ctx, p, need); err != nil {
		return nil, err
	}
	r.touch(ctx, p, g)
	return &caller{p, g}, nil
}

// May tells whether a rule lets the caller of a request, and leaves no trace: the doors ask before
// they tell what is wrong with a request. Refusals are 401 and 403.
func May(ctx context.Context, need *rule.Rule) error {
	_, err := grantFor(access.PrincipalOf(ctx), need)
	return err
}

// grantFor gives the grant by which a rule lets a principal.
func grantFor(p *access.Principal, need *rule.Rule) (*access.Grant, error) {
	if p == nil {
		return nil, problem.Unauthorized("a bearer token is needed")
	}
	for _, app := range need.Apps {
		if g := p.Grants[app]; p.Serves[app] && g != nil && g.Features.Has(need.Right) {
			return g, nil
		}
	}
	return nil, refusal(p, need)
}

// refusal says what a principal lacks in the last of the applications that its token serves.
func refusal(p *access.Principal, need *rule.Rule) error {
	err := problem.Denied("the token is for another application: this takes one of %s", names(need.Apps))
	for _, app := range need.Apps {
		switch g := p.Grants[app]; {
		case !p.Serves[app]:
		case g == nil:
			err = problem.Denied("the access to the application %s was disabled, or no longer reaches here", app)
		case g.KeptBack&need.Right != 0:
			err = problem.Denied("your session comes from an identity provider that was set up by somebody without the right %s", need.Right.Names()[0])
		case p.KeyID != 0:
			err = problem.Denied("the API key, or the role %q of its user, lacks the right %s", g.RoleName, need.Right.Names()[0])
		default:
			err = problem.Denied("the role %q lacks the right %s", g.RoleName, need.Right.Names()[0])
		}
	}
	return err
}

func names(apps []access.App) string {
	list := ""
	for i, a := range apps {
		if i > 0 {
			list += ", "
		}
		list += a.String()
	}
	return list
}

// reach is the part of the tree that the caller of a request reaches, for edges without a rule of
// their own: who has the object has been let by the rule of the field that led to it. Without a
// caller it finds nothing.
func reach(ctx context.Context) access.Scope {
	p := access.PrincipalOf(ctx)
	if p == nil {
		return access.Scope{}
	}
	return p.Scope()
}

// touch writes down that a permission and a key were used, at most once a minute. That it can't
// be written down is no reason to refuse the operation.
func (r *Resolver) touch(ctx context.Context, p *access.Principal, g *access.Grant) {
	var permission, key int64
	if g.Stale {
		permission, g.Stale = g.PermissionID, false
	}
	if p.KeyStale {
		key, p.KeyStale = p.KeyID, false
	}
	if permission != 0 || key != 0 {
		if err := r.Store.Touch(ctx, permission, key); err != nil {
			r.Log.WarnContext(ctx, "the use of a permission was not written down", "permission", permission, "error", err)
		}
	}
}
