package main

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"canopy/jobs"
	"canopy/outbox"
)

func cutNonEmpty(s, sep string) (before, after string, ok bool) {
	before, after, ok = strings.Cut(s, sep)
	return before, after, ok && before != "" && after != ""
}

func keyCreateCommand(m *Main, flags *flag.FlagSet) func(context.Context, []string) error {
	customer := flags.Int64("company", 0, "id of the company that the key acts in (default the root company)")
	email := flags.String("email", "", "e-mail address of the user that it acts for")
	name := flags.String("name", "", "what the key is for")
	return func(ctx context.Context, _ []string) error {
		if *email == "" {
			return usagef("--email is needed")
		}
		p, err := m.tool(ctx)
		if err != nil {
			return err
		}
		defer p.Close()
		key, plain, err := p.Resolver.OperatorCreateKey(ctx, *customer, *email, *name)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(m.Stdout, "client_id      %s\nclient_secret  %s\n", key.ClientID, plain)
		return err
	}
}

func keyListCommand(m *Main, flags *flag.FlagSet) func(context.Context, []string) error {
	customer := flags.Int64("company", 0, "id of the company (default the root company)")
	return func(ctx context.Context, _ []string) error {
		p, err := m.tool(ctx)
		if err != nil {
			return err
		}
		defer p.Close()
		keys, err := p.Resolver.OperatorListKeys(ctx, *customer)
		if err != nil {
			return err
		}
		w := tabwriter.NewWriter(m.Stdout, 0, 0, 3, ' ', 0)
		_, _ = fmt.Fprintln(w, "CLIENT ID\tUSER\tNAME\tCREATED\tLAST USED\tEXPIRES\tREVOKED")
		for _, k := range keys {
			_, _ = fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%s\t%s\n", k.ClientID, k.UserID, k.Name, day(&k.CreatedAt), day(k.LastUsedAt), day(k.ExpiresAt), day(k.RevokedAt))
		}
		return w.Flush()
	}
}

func day(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04Z")
}

func keyRotateCommand(m *Main, flags *flag.FlagSet) func(context.Context, []string) error {
	grace := flags.Duration("grace", 24*time.Hour, "how long the old secret lives on")
	return func(ctx context.Context, args []string) error {
		if len(args) != 1 || *grace < 0 {
			return usagef("one client id is needed, and a grace of 0 or more")
		}
		p, err := m.tool(ctx)
		if err != nil {
			return err
		}
		defer p.Close()
		ends := time.Now().Add(*grace)
		plain, err := p.Resolver.OperatorRotateKey(ctx, args[0], ends)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(m.Stdout, "client_id      %s\nclient_secret  %s\nthe old secret ends at %s\n", args[0], plain, day(&ends))
		return err
	}
}

func keyRevokeCommand(m *Main, _ *flag.FlagSet) func(context.Context, []string) error {
	return func(ctx context.Context, args []string) error {
		if len(args) != 1 {
			return usagef("one client id is needed")
		}
		p, err := m.tool(ctx)
		if err != nil {
			return err
		}
		defer p.Close()
		if err := p.Resolver.OperatorRevokeKey(ctx, args[0]); err != nil {
			return err
		}
		_, err = fmt.Fprintf(m.Stdout, "%s is revoked\n", args[0])
		return err
	}
}

func signingKeyRotateCommand(m *Main, flags *flag.FlagSet) func(context.Context, []string) error {
	after := flags.Duration("activate-after", 10*time.Minute, "how long the key is published before it signs, so that every validator has it; 0 when the old one has leaked")
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
		_, err = fmt.Fprintf(m.Stdout, "kid  %s\n", kid)
		return err
	}
}

func signingKeyRetireCommand(m *Main, flags *flag.FlagSet) func(context.Context, []string) error {
	now := flags.Bool("now", false, "says that it is meant: whoever holds a token that the key has signed needs a new one")
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
		if _, err := fmt.Fprintf(m.Stdout, "retired  %s\n", retired); err != nil || next == "" {
			return err
		}
		_, err = fmt.Fprintf(m.Stdout, "kid      %s\n", next)
		return err
	}
}
