package main

import (
	"context"
	"flag"
	"fmt"
)

func userResetTOTPCommand(m *Main, _ *flag.FlagSet) func(context.Context, []string) error {
	return func(ctx context.Context, args []string) error {
		if len(args) != 1 {
			return usagef("one e-mail address is needed")
		}
		p, err := m.tool(ctx)
		if err != nil {
			return err
		}
		defer p.Close()
		if err := p.Resolver.OperatorResetTOTP(ctx, args[0]); err != nil {
			return err
		}
		_, err = fmt.Fprintf(m.Stdout, "two-factor of %s is off\n", args[0])
		return err
	}
}
