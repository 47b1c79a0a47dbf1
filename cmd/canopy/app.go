package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"golang.org/x/term"

	"canopy/internal/problem"
)

// The exit codes.
const (
	exitOK    = 0
	exitFault = 1
	exitUsage = 2
)

// Main is the program: what main runs, and what end-to-end tests drive.
type Main struct {
	Stdout, Stderr io.Writer
	Getenv         func(string) string
}

// command is one of the program's commands. setup declares its flags and gives what runs it with
// the arguments that are left; there are none where args is empty.
type command struct {
	name, args, short, long string
	setup                   func(m *Main, flags *flag.FlagSet) func(ctx context.Context, args []string) error
}

// usageError is a call that can't be understood.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// Run runs one command and gives the exit code: 0, 1 for a fault, 2 for wrong usage.
func (m *Main) Run(ctx context.Context, args []string) int {
	switch {
	case len(args) == 0, asksForHelp(args):
		m.help()
		return exitOK
	case args[0] == "help":
		args = append(slices.Clone(args[1:]), "--help")
	}
	cmd, rest := find(args)
	if cmd == nil && asksForHelp(args[1:]) && m.groupHelp(args[0]) {
		return exitOK
	}
	if cmd == nil {
		_, _ = fmt.Fprintf(m.Stderr, "canopy: unknown command %q: see canopy help\n", strings.Join(args[:min(2, len(args))], " "))
		return exitUsage
	}
	flags := flag.NewFlagSet(cmd.name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	run := cmd.setup(m, flags)
	err := flags.Parse(rest)
	if errors.Is(err, flag.ErrHelp) {
		m.commandHelp(cmd, flags)
		return exitOK
	}
	switch {
	case err != nil:
		err = usageError{err}
	case cmd.args == "" && flags.NArg() > 0:
		err = usagef("no arguments are taken")
	default:
		err = run(ctx, flags.Args())
	}
	return m.exit(cmd, err)
}

func (m *Main) exit(cmd *command, err error) int {
	var usage usageError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &usage):
		_, _ = fmt.Fprintf(m.Stderr, "canopy %s: %v: see canopy %s --help\n", cmd.name, oneLine(err), cmd.name)
		return exitUsage
	}
	_, _ = fmt.Fprintf(m.Stderr, "canopy %s: %s\n", cmd.name, oneLine(err))
	return exitFault
}

// oneLine is an error for a person at a shell: what a caller may know, and the cause.
func oneLine(err error) string {
	var p *problem.Error
	if errors.As(err, &p) {
		text := p.Detail
		if cause := errors.Unwrap(p); cause != nil {
			text += ": " + cause.Error()
		}
		return strings.ReplaceAll(text, "\n", "; ")
	}
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}

// find gives the command of the longest name that the arguments begin with.
func find(args []string) (*command, []string) {
	for n := min(2, len(args)); n > 0; n-- {
		name := strings.Join(args[:n], " ")
		for i := range commands {
			if commands[i].name == name {
				return &commands[i], args[n:]
			}
		}
	}
	return nil, nil
}

func (m *Main) help() {
	_, _ = fmt.Fprint(m.Stdout, "canopy: a multi-tenant API platform, by GraphQL and REST\n\nUsage: canopy COMMAND [FLAGS] [ARGUMENTS]\n\n")
	m.list(commands)
}

// asksForHelp tells whether nothing but help is asked for.
func asksForHelp(args []string) bool {
	return len(args) == 1 && slices.Contains([]string{"help", "--help", "-help", "-h"}, args[0])
}

// groupHelp lists the commands of a group, such as key, where there is such a group.
func (m *Main) groupHelp(group string) bool {
	var list []command
	for _, c := range commands {
		if strings.HasPrefix(c.name, group+" ") {
			list = append(list, c)
		}
	}
	if len(list) == 0 {
		return false
	}
	_, _ = fmt.Fprintf(m.Stdout, "Usage: canopy %s COMMAND [FLAGS] [ARGUMENTS]\n\n", group)
	m.list(list)
	return true
}

func (m *Main) list(commands []command) {
	w := tabwriter.NewWriter(m.Stdout, 0, 0, 3, ' ', 0)
	for _, c := range commands {
		_, _ = fmt.Fprintf(w, "  %s\t%s\n", strings.TrimSpace(c.name+" "+c.args), c.short)
	}
	_ = w.Flush()
	_, _ = fmt.Fprint(m.Stdout, "\ncanopy COMMAND --help tells more of each.\n")
}

func (m *Main) commandHelp(c *command, flags *flag.FlagSet) {
	_, _ = fmt.Fprintf(m.Stdout, "Usage: canopy %s\n\n%s.\n", strings.TrimSpace(c.name+" [FLAGS] "+c.args), c.short)
	if c.long != "" {
		_, _ = fmt.Fprintf(m.Stdout, "\n%s\n", strings.TrimSpace(c.long))
	}
	some := false
	flags.VisitAll(func(*flag.Flag) { some = true })
	if some {
		_, _ = fmt.Fprint(m.Stdout, "\nFlags:\n")
		flags.SetOutput(m.Stdout)
		flags.PrintDefaults()
	}
}

// logger writes text on a terminal and JSON elsewhere.
func (m *Main) logger() *slog.Logger {
	if f, ok := m.Stderr.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return slog.New(slog.NewTextHandler(m.Stderr, nil))
	}
	return slog.New(slog.NewJSONHandler(m.Stderr, nil))
}
