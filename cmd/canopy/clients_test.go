package main

import (
	"os"
	"strings"
	"testing"

	"canopy/internal/devstack/npmtest"
)

func TestClientsOfTheTokenEndpoint(t *testing.T) {
	project := npmtest.New(t, os.DirFS("testdata/clients"))
	s := newStack(t)
	out := project.Run("node", "tokens.mjs", s.url, s.info.ClientID, s.info.ClientSecret)
	if n := strings.Count(out, "ok "); n != 6 {
		t.Fatalf("%d of 6 checks:\n%s", n, out)
	}
}
