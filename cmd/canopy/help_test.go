package main

import (
	"io"
	"slices"
	"strings"
	"testing"
)

// said runs the program where nothing is configured, and gives what it said.
func said(t *testing.T, args ...string) (code int, out, fault string) {
	t.Helper()
	var stdout, stderr strings.Builder
	m := &Main{Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" }}
	return m.Run(t.Context(), args), stdout.String(), stderr.String()
}

// TestHelp asks every command for help, in every way, with and without arguments before it.
func TestHelp(t *testing.T) {
	groups := map[string]bool{}
	for _, c := range commands {
		words := strings.Fields(c.name)
		groups[words[0]] = len(words) > 1
		for _, args := range [][]string{
			append(slices.Clone(words), "--help"), append(slices.Clone(words), "-h"), append(slices.Clone(words), "-help"),
			append(slices.Clone(words), "up", "--help"), append([]string{"help"}, words...), append([]string{"--help"}, words...),
		} {
			code, out, fault := said(t, args...)
			if code != 0 || fault != "" || !strings.HasPrefix(out, "Usage: canopy "+c.name) || !strings.Contains(out, c.short) {
				t.Errorf("%q: %d %q %.100q", args, code, fault, out)
			}
		}
	}
	for name, group := range groups {
		if !group {
			continue
		}
		for _, args := range [][]string{{name, "--help"}, {name, "-h"}, {"help", name}, {"--help", name}} {
			code, out, fault := said(t, args...)
			if code != 0 || fault != "" || !strings.HasPrefix(out, "Usage: canopy "+name+" COMMAND") || strings.Count(out, "\n  "+name+" ") < 1 {
				t.Errorf("%q: %d %q %.100q", args, code, fault, out)
			}
		}
	}
	for _, args := range [][]string{nil, {"help"}, {"--help"}, {"-h"}, {"help", "--help"}} {
		code, out, fault := said(t, args...)
		if code != 0 || fault != "" || strings.Count(out, "\n  ") != len(commands) {
			t.Errorf("%q: %d %q %s", args, code, fault, out)
		}
	}
}

// TestVersion: a program that was downloaded tells which one it is.
func TestVersion(t *testing.T) {
	for _, arg := range []string{"version", "--version", "-version"} {
		if code, out, fault := said(t, arg); code != 0 || fault != "" || out != "canopy "+version+"\n" {
			t.Errorf("%s: %d %q %q", arg, code, fault, out)
		}
	}
}

// TestUsage: what can't be understood is said in one line, which leads to the help.
func TestUsage(t *testing.T) {
	for args, want := range map[string]string{
		"nonsense":                     `canopy: unknown command "nonsense": see canopy help`,
		"nonsense --help":              `canopy: unknown command "nonsense": see canopy help`,
		"key":                          `canopy key: one of its commands is needed: see canopy key --help`,
		"key make":                     `canopy: unknown command "key make": see canopy help`,
		"serve now":                    `canopy serve: no arguments are taken: see canopy serve --help`,
		"serve --fast":                 `canopy serve: flag provided but not defined: -fast: see canopy serve --help`,
		"migrate":                      `canopy migrate: one of up, down and status is needed: see canopy migrate --help`,
		"migrate up":                   `canopy migrate: DATABASE_URL is required: postgres://user:password@host:5432/name`,
		"seed":                         `canopy seed: --companies is needed: how many are made in the database of DATABASE_URL: see canopy seed --help`,
		"seed --companies -1":          `canopy seed: --companies and --fanout must be at least 1, and no count negative: see canopy seed --help`,
		"migrate sideways":             `canopy migrate: one of up, down and status is needed, not "sideways": see canopy migrate --help`,
		"key rotate a --grace -1s":     `canopy key rotate: one client id is needed, and a grace of 0 or more: see canopy key rotate --help`,
		"key rotate --grace 1h -- a b": `canopy key rotate: one client id is needed, and a grace of 0 or more: see canopy key rotate --help`,
	} {
		if _, _, fault := said(t, strings.Fields(args)...); strings.TrimSuffix(fault, "\n") != want {
			t.Errorf("canopy %s says %q", args, fault)
		}
	}
	// Flags may stand behind arguments: what is missing here is a platform.
	if code, _, fault := said(t, "key", "rotate", "a", "--grace", "1h"); code != 1 || !strings.Contains(fault, "which platform is meant?") {
		t.Errorf("%d %q", code, fault)
	}
}

// TestMisspeltSettings: what is set in vain is told beside what is missing for it.
func TestMisspeltSettings(t *testing.T) {
	for command, words := range map[string][]string{
		"migrate": {"up"}, "serve": nil, "worker": nil, "bootstrap": {"--company", "A", "--email", "a@example.com"},
	} {
		var stderr strings.Builder
		m := &Main{
			Stdout: io.Discard, Stderr: &stderr, Getenv: func(string) string { return "" },
			Environ: []string{"CANOPY_DATABASE_URL=postgres://u:hunter2@db/x", "CANOPY_TEST_RUN=1"},
		}
		code := m.Run(t.Context(), append([]string{command}, words...))
		told, fault, _ := strings.Cut(stderr.String(), "\n")
		if code != 1 || !strings.Contains(told, `"level":"WARN","msg":"CANOPY_DATABASE_URL is set, but there is no such setting: is DATABASE_URL meant?"`) ||
			!strings.Contains(fault, "DATABASE_URL is required") || strings.Contains(stderr.String(), "hunter2") || strings.Contains(told, "CANOPY_TEST_RUN") {
			t.Errorf("%s: %d %s", command, code, stderr.String())
		}
	}
}
