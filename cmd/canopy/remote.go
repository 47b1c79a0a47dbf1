package main

import (
	"cmp"
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	canopy "canopy/clients/go"
	"canopy/internal/access"
)

// retries is how often a command sends a request again.
const retries = 4

// remoteHelp tells how commands find the platform that they talk to.
const remoteHelp = `
The platform is that of --url, otherwise of CANOPY_URL, of canopy login, of .data/dev.json. The command acts for the
API key in CANOPY_CLIENT_ID and CANOPY_CLIENT_SECRET, otherwise as canopy login has left it, or for the key of .data/dev.json.`

// eitherHelp is remoteHelp for commands of the operator's shell.
const eitherHelp = `
With --url or CANOPY_URL it asks that platform; otherwise, where DATABASE_URL is set, it works on the database itself, with
CANOPY_SECRET_KEY; otherwise it asks the platform of canopy login, or that of .data/dev.json. Asking, it acts for the API key in
CANOPY_CLIENT_ID and CANOPY_CLIENT_SECRET, otherwise as canopy login has left it, or for the key of .data/dev.json.`

// remote says which platform a command talks to, and for whom.
type remote struct {
	m         *Main
	url, file *string
}

// remoteFlags declares the flags of a command that talks to a platform.
func (m *Main) remoteFlags(flags *flag.FlagSet) *remote {
	return &remote{
		m: m, url: flags.String("url", "", "the platform's address (default CANOPY_URL, otherwise that of canopy login, or of .data/dev.json)"),
		file: flags.String("credentials", filepath.Join(".data", "dev.json"), "file with url, clientId and clientSecret"),
	}
}

// direct tells whether a command that can do both works on the database.
func (r *remote) direct() bool {
	return *r.url == "" && r.m.Getenv("CANOPY_URL") == "" && r.m.Getenv("DATABASE_URL") != ""
}

// client talks to the platform in an application.
func (r *remote) client(app access.App) (*canopy.Client, error) {
	c := &canopy.Client{
		URL: cmp.Or(*r.url, r.m.Getenv("CANOPY_URL")), App: app.String(), Retries: retries, Waits: r.m.waits(),
		Key: canopy.Key{ClientID: r.m.Getenv("CANOPY_CLIENT_ID"), ClientSecret: r.m.Getenv("CANOPY_CLIENT_SECRET")},
	}
	err := r.complete(c)
	c.URL = strings.TrimRight(c.URL, "/")
	return c, err
}

// complete adds what neither flags nor environment have said. What belongs to one platform is not shown to another.
func (r *remote) complete(c *canopy.Client) error {
	if c.URL != "" && c.ClientID != "" {
		return nil
	}
	l, err := r.m.readLogin()
	if err != nil {
		return err
	}
	if l.URL != "" && (c.URL == "" || sameURL(c.URL, l.URL)) {
		c.URL = l.URL
		if c.ClientID == "" {
			l.use(c)
		}
		return nil
	}
	url, key, err := canopy.ReadKeyFile(*r.file)
	switch {
	case err != nil && c.URL == "":
		return fmt.Errorf("which platform is meant? canopy login, CANOPY_URL or --url says it: %w", err)
	case err != nil || c.URL != "" && !sameURL(c.URL, url):
		return fmt.Errorf("nothing says who you are at %s: canopy login does, or CANOPY_CLIENT_ID and CANOPY_CLIENT_SECRET", c.URL)
	}
	c.URL = url
	if c.ClientID == "" {
		c.Key = key
	}
	return nil
}

func sameURL(a, b string) bool { return strings.TrimRight(a, "/") == strings.TrimRight(b, "/") }

// waits tells a person what a command waits for, once for each reason in turn: it would be silent else.
func (m *Main) waits() func(error, time.Duration) {
	var mu sync.Mutex
	var last string
	return func(err error, _ time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		if text := oneLine(err); text != last {
			last = text
			_, _ = fmt.Fprintf(m.Stderr, "canopy: %s: trying again\n", text)
		}
	}
}

// toCheck is what a person is told to look at where nobody could be asked.
const toCheck = "is the address right (--url, CANOPY_URL, or what canopy login keeps), and does the platform run there?"
