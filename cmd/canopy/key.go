package main

import (
	"context"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"time"

	"canopy/jobs"
	"canopy/outbox"
)

func keyCreateCommand(m *Main, flags *flag.FlagSet) func(context.Context, []string) error {
	customer := flags.Int64("company", 0, "id of the company that the key acts in (default the own one; on the database the root company)")
	email := flags.String("email", "", "e-mail address of the user that it acts for (default oneself)")
	name := flags.String("name", "", "what the key is for")
	asJSON := jsonFlag(flags)
	at := m.remoteFlags(flags)
	return func(ctx context.Context, _ []string) error {
		return at.withKeys(ctx, func(keys keyPlace) error {
			made, err := keys.create(ctx, *customer, *email, *name)
			if err != nil {
				return err
			}
			return m.tellKey(made, *asJSON)
		})
	}
}

// withKeys does something with the keys of the place that is meant.
func (r *remote) withKeys(ctx context.Context, do func(keyPlace) error) error {
	keys, err := r.keys(ctx)
	if err != nil {
		return err
	}
	defer keys.close()
	return do(keys)
}

// tellKey shows a secret, this once.
func (m *Main) tellKey(made *madeKey, asJSON bool) error {
	if asJSON {
		return m.writeJSON(made)
	}
	if _, err := fmt.Fprintf(m.Stdout, "client_id      %s\nclient_secret  %s\n", made.ClientID, made.ClientSecret); err != nil || made.GraceEndsAt == nil {
		return err
	}
	_, err := fmt.Fprintf(m.Stdout, "the old secret ends at %s\n", day(made.GraceEndsAt))
	return err
}

func keyListCommand(m *Main, flags *flag.FlagSet) func(context.Context, []string) error {
	customer := flags.Int64("company", 0, "id of the company (default the own one; on the database the root company)")
	asJSON := jsonFlag(flags)
	at := m.remoteFlags(flags)
	return func(ctx context.Context, _ []string) error {
		return at.withKeys(ctx, func(keys keyPlace) error {
			list, err := keys.list(ctx, *customer)
			switch {
			case err != nil:
				return err
			case *asJSON:
				return m.writeJSON(append([]keyRow{}, list...))
			}
			rows := make([][]string, len(list))
			for i, k := range list {
				user := "-"
				if k.UserID != nil {
					user = strconv.FormatInt(*k.UserID, 10)
				}
				rows[i] = []string{k.ClientID, user, k.Name, day(&k.CreatedAt), day(k.LastUsedAt), day(k.ExpiresAt), day(k.RevokedAt)}
			}
			return m.writeTable([]string{"CLIENT ID", "USER", "NAME", "CREATED", "LAST USED", "EXPIRES", "REVOKED"}, rows)
		})
	}
}

func day(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04Z")
}

func keyRotateCommand(m *Main, flags *flag.FlagSet) func(context.Context, []string) error {
	customer := flags.Int64("company", 0, "id of the company that the key acts in (default the own one; not asked for on the database)")
	grace := flags.Duration("grace", 24*time.Hour, "how long the old secret lives on")
	asJSON := jsonFlag(flags)
	at := m.remoteFlags(flags)
	return func(ctx context.Context, args []string) error {
		if len(args) != 1 || *grace < 0 {
			return usagef("one client id is needed, and a grace of 0 or more")
		}
		return at.withKeys(ctx, func(keys keyPlace) error {
			made, err := keys.rotate(ctx, args[0], *customer, *grace)
			if err != nil {
				return err
			}
			return m.tellKey(made, *asJSON)
		})
	}
}

func keyRevokeCommand(m *Main, flags *flag.FlagSet) func(context.Context, []string) error {
	customer := flags.Int64("company", 0, "id of the company that the key acts in (default the own one; not asked for on the database)")
	asJSON := jsonFlag(flags)
	at := m.remoteFlags(flags)
	return func(ctx context.Context, args []string) error {
		if len(args) != 1 {
			return usagef("one client id is needed")
		}
		return at.withKeys(ctx, func(keys keyPlace) error {
			if err := keys.revoke(ctx, args[0], *customer); err != nil {
				return err
			}
			return m.write(*asJSON, map[string]any{"clientId": args[0], "revoked": true}, args[0]+" is revoked\n")
		})
	}
}

func signingKeyRotateCommand(m *Main, flags *flag.FlagSet) func(context.Context, []string) error {
	after := flags.Duration("activate-after", 10*time.Minute, "how long the key is published before it signs, so that every validator has it; 0 when the old one has leaked")
	asJSON := jsonFlag(flags)
	return func(ctx context.Context, _ []string) error {
		if *after < 0 {
			return usagef("--activate-after must not be negative")
		}
		p, err := m.tool(ctx)
		if err != nil {
			return err
		}
		defer p.Close()
		kid, err := jobs.RotateSigningKey(ctx, p.Store, p.Box, *after)
		if err != nil {
			return err
		}
		outbox.TellSigningKeys(ctx, p.Bus)
		return m.write(*asJSON, map[string]string{"kid": kid}, "kid  "+kid+"\n")
	}
}

func signingKeyRetireCommand(m *Main, flags *flag.FlagSet) func(context.Context, []string) error {
	now := flags.Bool("now", false, "says that it is meant: whoever holds a token that the key has signed needs a new one")
	asJSON := jsonFlag(flags)
	return func(ctx context.Context, args []string) error {
		switch {
		case len(args) > 1:
			return usagef("at most one key id is taken")
		case !*now:
			return usagef("--now is needed: every token that the key has signed is refused from then on")
		}
		p, err := m.tool(ctx)
		if err != nil {
			return err
		}
		defer p.Close()
		retired, next, err := jobs.RetireSigningKey(ctx, p.Store, p.Box, strings.Join(args, ""))
		if err != nil {
			return err
		}
		outbox.TellSigningKeys(ctx, p.Bus)
		text := "retired  " + retired + "\n"
		if next != "" {
			text += "kid      " + next + "\n"
		}
		return m.write(*asJSON, struct {
			Retired string `json:"retired"`
			// KID is the key that signs from now on; none where another has signed already.
			KID string `json:"kid,omitempty"`
		}{retired, next}, text)
	}
}
