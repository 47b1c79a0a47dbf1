package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"strings"

	"canopy/internal/access"
	"canopy/internal/client"
	"canopy/internal/importer"
)

func contextImportCommand(m *Main, flags *flag.FlagSet) func(context.Context, []string) error {
	id := flags.Int64("context", 0, "id of the context")
	server := flags.String("url", "", "the platform's address (default that of .data/dev.json)")
	file := flags.String("credentials", filepath.Join(".data", "dev.json"), "file with url, clientId and clientSecret")
	wait := flags.Bool("wait", false, "wait until the context's documents are processed, and tell which failed")
	return func(ctx context.Context, args []string) error {
		if *id <= 0 || len(args) == 0 {
			return usagef("--context and at least one file or folder are needed")
		}
		c, err := importClient(m, access.Assistant, *server, *file)
		if err != nil {
			return err
		}
		i := &importer.Importer{Client: c, Context: *id, Wait: *wait, Out: m.Stdout, Progress: m.Stderr}
		return i.Run(ctx, args)
	}
}

// importClient acts in an application, and has the key of the environment, CANOPY_CLIENT_ID and CANOPY_CLIENT_SECRET, otherwise that
// of the file.
func importClient(m *Main, app access.App, server, file string) (*client.Client, error) {
	c := &client.Client{URL: server, App: app.String(), Key: client.Key{ClientID: m.Getenv("CANOPY_CLIENT_ID"), ClientSecret: m.Getenv("CANOPY_CLIENT_SECRET")}}
	if c.URL == "" || c.ClientID == "" {
		url, key, err := client.ReadKeyFile(file)
		if err != nil {
			return nil, fmt.Errorf("CANOPY_CLIENT_ID, CANOPY_CLIENT_SECRET and --url are not all set, and the credentials' file: %w", err)
		}
		c.URL = cmp.Or(c.URL, url)
		if c.ClientID == "" {
			c.Key = key
		}
	}
	c.URL = strings.TrimRight(c.URL, "/")
	return c, nil
}
