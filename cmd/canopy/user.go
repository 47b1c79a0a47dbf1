package main

import (
	"context"
	"flag"
)

func userResetTOTPCommand(m *Main, flags *flag.FlagSet) func(context.Context, []string) error {
	asJSON := jsonFlag(flags)
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
		return m.write(*asJSON, map[string]any{"email": args[0], "twoFactor": false}, "two-factor of "+args[0]+" is off\n")
	}
}
