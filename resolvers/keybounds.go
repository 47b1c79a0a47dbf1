package resolvers

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"time"

	"github.com/lib/pq"

	"canopy/db"
	"canopy/internal/access"
	"canopy/internal/problem"
)

const (
	// longestKeyDays is the longest life of keys that a company can set.
	longestKeyDays = 3650
	// maxNetworks is how many networks a key may be bound to.
	maxNetworks = 100
)

// networks checks a list of CIDRs and puts them into their plain form.
func (v *check) networks(field string, list []string) pq.StringArray {
	if list == nil {
		return nil
	}
	if len(list) == 0 || len(list) > maxNetworks {
		v.fault(field, "must have 1 to %d networks", maxNetworks)
		return nil
	}
	plain := make(pq.StringArray, len(list))
	for i, s := range list {
		p, err := netip.ParsePrefix(s)
		if err != nil {
			v.fault(field, "%q is not a CIDR such as 203.0.113.0/24", clip(s))
			continue
		}
		plain[i] = p.Masked().String()
	}
	return plain
}

// keyFeatures checks the rights of a key; nil are all those of its user.
func (v *check) keyFeatures(list []string) pq.StringArray {
	switch {
	case list == nil:
		return nil
	case len(list) == 0:
		v.fault("features", "must name a right; left out, the key has all those of its user")
		return nil
	}
	return v.features(list)
}

// comesFrom tells whether a request comes from one of a key's networks; nil are all.
func (r *Resolver) comesFrom(ctx context.Context, networks []string) bool {
	if networks == nil {
		return true
	}
	address, err := netip.ParseAddr(r.ClientAddress(ctx))
	return err == nil && slices.ContainsFunc(networks, func(n string) bool {
		p, err := netip.ParsePrefix(n)
		return err == nil && p.Contains(address)
	})
}

// mayActAs: a key acts as a user of its company, who has accepted it or is new to the platform.
func mayActAs(ctx context.Context, tx *db.Store, c *caller, k *db.APIKey) error {
	may, err := tx.MayActAs(ctx, c.Scope(), k.CustomerID, k.UserID)
	if errors.Is(err, db.ErrNoRows) {
		fault := problem.Fault{Location: "userId", Message: "is not a user of the company"}
		if k.UserID == c.UserID { // who need not have been named
			fault.Message = "must name a user of the company, which you are not"
		}
		return problem.Invalid(fault)
	}
	if err == nil && !may {
		err = problem.Bad("the user has not accepted the company yet, by redeeming its invitation or by signing in to it").With("not_accepted")
	}
	return err
}

// mayLive: a key lives no longer than its company, and those above it, let it.
func mayLive(ctx context.Context, tx *db.Store, k *db.APIKey) error {
	days, err := tx.MaxKeyDays(ctx, k.CustomerID)
	if err != nil || days == 0 {
		return err
	}
	last := time.Now().AddDate(0, 0, days).UTC().Truncate(time.Second)
	if k.ExpiresAt == nil || k.ExpiresAt.After(last) {
		return problem.Invalid(problem.Fault{Location: "expiresAt", Message: "must be at most " + last.Format(time.RFC3339) + ": keys live no longer here"})
	}
	return nil
}

// mayMakeKey: a new key's life and rights.
func mayMakeKey(ctx context.Context, tx *db.Store, c *caller, k *db.APIKey) error {
	if err := mayMakeWithKey(ctx, tx, c, k); err != nil {
		return err
	}
	if err := mayLive(ctx, tx, k); err != nil {
		return err
	}
	return mayHandKeyOver(ctx, tx, c, k)
}

// mayTakeOverKey: who gets a new secret of a key gets the key. One's own is one's already, unless a key or a session
// that may less asks for it.
func mayTakeOverKey(ctx context.Context, tx *db.Store, c *caller, k *db.APIKey) error {
	if err := mayMakeWithKey(ctx, tx, c, k); err != nil || k.UserID == c.UserID && c.Withheld == 0 {
		return err
	}
	return mayHandKeyOver(ctx, tx, c, k)
}

// mayHandKeyOver: who has a key's secret may what the key may: what it names, which its user may lack today and
// have tomorrow; and where it names nothing, what its user may in its company and below.
func mayHandKeyOver(ctx context.Context, tx *db.Store, c *caller, k *db.APIKey) error {
	if k.Features != nil {
		return c.mayGive(k.Rights(access.AllFeatures))
	}
	rights, err := tx.RightsOf(ctx, k.UserID, k.CustomerID)
	if err != nil {
		return err
	}
	return c.mayGive(rights)
}

// mayMakeWithKey: whoever asks with a key's token gets no key that outlives or exceeds it. A key without
// networks takes those of the one that asks.
func mayMakeWithKey(ctx context.Context, tx *db.Store, c *caller, k *db.APIKey) error {
	if c.Login() || c.KeyID == k.ID {
		return nil
	}
	own, err := tx.APIKeyOf(ctx, c.KeyID)
	if err != nil {
		return err
	}
	if own.ExpiresAt != nil && (k.ExpiresAt == nil || k.ExpiresAt.After(*own.ExpiresAt)) {
		return problem.Invalid(problem.Fault{
			Location: "expiresAt", Message: "must be at most " + own.ExpiresAt.UTC().Format(time.RFC3339) + ", when the key that asks ends",
		})
	}
	if beyond := k.Rights(access.AllFeatures) &^ own.Rights(access.AllFeatures); beyond != 0 {
		return problem.Denied("the right %s can't be given: the API key that asks does not have it", beyond.Names()[0]).With(beyondOwnRights)
	}
	if own.AllowedAddresses == nil {
		return nil
	}
	if k.AllowedAddresses == nil && k.ID == 0 {
		k.AllowedAddresses = own.AllowedAddresses
	}
	if k.AllowedAddresses == nil || slices.ContainsFunc(k.AllowedAddresses, func(n string) bool { return !inside(n, own.AllowedAddresses) }) {
		return problem.Denied("the API key that asks works from other networks only: %v", []string(own.AllowedAddresses)).With(beyondOwnRights)
	}
	return nil
}

// inside tells whether a network lies within one of others.
func inside(network string, others []string) bool {
	p, err := netip.ParsePrefix(network)
	return err == nil && slices.ContainsFunc(others, func(o string) bool {
		outer, err := netip.ParsePrefix(o)
		return err == nil && outer.Bits() <= p.Bits() && outer.Contains(p.Addr())
	})
}
