package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"canopy/e2e/platform"
)

// argumentsVariable makes the test binary run as the program, with these arguments.
const argumentsVariable = "CANOPY_TEST_ARGUMENTS"

func TestMain(m *testing.M) {
	if arguments := os.Getenv(argumentsVariable); arguments != "" {
		os.Exit(run(strings.Fields(arguments)))
	}
	platform.Main(m)
}

// operate runs the program on a platform's settings, and those given beside, and gives what it said.
func operate(t *testing.T, s *platform.Platform, settings []string, args ...string) (code int, out, fault string) {
	t.Helper()
	env := map[string]string{"DATABASE_URL": s.App.Config.DatabaseURL}
	for _, one := range append([]string{platform.SecretKeys(s.App.Config.SecretKeys...)}, settings...) {
		name, value, _ := strings.Cut(one, "=")
		env[name] = value
	}
	var stdout, stderr bytes.Buffer
	m := &Main{Stdout: &stdout, Stderr: &stderr, Getenv: func(name string) string { return env[name] }}
	code = m.Run(t.Context(), args)
	return code, stdout.String(), stderr.String()
}
