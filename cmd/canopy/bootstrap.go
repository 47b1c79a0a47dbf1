package main

import (
	"context"
	"flag"
	"fmt"
	"strings"

	"canopy/internal/access"
	"canopy/resolvers"
)

func bootstrapCommand(m *Main, flags *flag.FlagSet) func(context.Context, []string) error {
	customer := flags.String("company", "", "name of the root company")
	email := flags.String("email", "", "e-mail address of its first admin")
	first := flags.String("first-name", "", "the admin's first name")
	last := flags.String("last-name", "", "the admin's last name")
	var regions []resolvers.RegionSeed
	flags.Func("region", "a region to set up, as CODE=NAME; can be given several times, the first is the root company's (default three)", func(s string) error {
		seed, err := parseRegion(s)
		regions = append(regions, seed)
		return err
	})
	asJSON := jsonFlag(flags)
	return func(ctx context.Context, _ []string) error {
		if *customer == "" || *email == "" {
			return usagef("--company and --email are needed")
		}
		if regions == nil {
			regions = resolvers.DefaultRegions
		}
		p, err := m.tool(ctx)
		if err != nil {
			return err
		}
		defer p.Close()
		made, err := p.Resolver.Found(ctx, resolvers.Founding{Regions: regions, Customer: *customer, Email: *email, FirstName: *first, LastName: *last})
		if err != nil {
			return err
		}
		told := map[string]any{
			"companyId": made.Customer.ID, "adminId": made.Admin.ID, "setupUrl": made.SetupLink, "clientId": made.ClientID, "clientSecret": made.ClientSecret,
		}
		return m.write(*asJSON, told, fmt.Sprintf("company        %s (id %d)\nadmin          %s (id %d)\nset up at      %s\nclient_id      %s\nclient_secret  %s\n",
			made.Customer.Name, made.Customer.ID, made.Admin.Email, made.Admin.ID, made.SetupLink, made.ClientID, made.ClientSecret))
	}
}

func parseRegion(s string) (resolvers.RegionSeed, error) {
	code, name, ok := cutNonEmpty(s, "=")
	if !ok {
		return resolvers.RegionSeed{}, fmt.Errorf("%q must look like eu-central=Europe", s)
	}
	return resolvers.RegionSeed{Code: code, Name: name, Apps: access.Apps()}, nil
}

func cutNonEmpty(s, sep string) (before, after string, ok bool) {
	before, after, ok = strings.Cut(s, sep)
	return before, after, ok && before != "" && after != ""
}
