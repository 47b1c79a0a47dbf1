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

	canopy "canopy/clients/go"
	"canopy/internal/lines"
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
	// Stdin is where questions are answered; may be nil.
	Stdin  io.Reader
	Getenv func(string) string
	// Environ is all of the environment, where misspelt settings are looked for; may be nil.
	Environ []string
	// log gathers the lines of a process that stays; nil for others.
	log *lines.Writer
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
	// `canopy help key create` and `canopy --help key create` stand for `canopy key create --help`.
	if len(args) > 0 && (args[0] == "help" || isHelp(args[0])) {
		args = append(slices.Clone(args[1:]), "--help")
	}
	if len(args) == 1 && isVersion(args[0]) {
		_, _ = fmt.Fprintln(m.Stdout, "canopy", version)
		return exitOK
	}
	if cmd, rest := find(args); cmd != nil {
		err := m.runCommand(ctx, cmd, rest)
		m.log.Flush()
		return m.exit(cmd, err)
	}
	return m.noCommand(args)
}

// noCommand answers where no command is named: with a list, where help is asked for.
func (m *Main) noCommand(args []string) int {
	help := slices.ContainsFunc(args, isHelp)
	words := slices.DeleteFunc(slices.Clone(args), isHelp)
	switch group := groupOf(words); {
	case len(words) == 0:
		m.help()
	case group != nil && help:
		m.groupHelp(words[0], group)
	case group != nil:
		_, _ = fmt.Fprintf(m.Stderr, "canopy %s: one of its commands is needed: see canopy %s --help\n", words[0], words[0])
		return exitUsage
	default:
		_, _ = fmt.Fprintf(m.Stderr, "canopy: unknown command %q: see canopy help\n", strings.Join(words[:min(2, len(words))], " "))
		return exitUsage
	}
	return exitOK
}

// runCommand runs a command with its flags and arguments, in any order.
func (m *Main) runCommand(ctx context.Context, cmd *command, args []string) error {
	flags := flag.NewFlagSet(cmd.name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	run := cmd.setup(m, flags)
	rest, err := parse(flags, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		m.commandHelp(cmd, flags)
		return nil
	case err != nil:
		return usageError{err}
	case cmd.args == "" && len(rest) > 0:
		return usagef("no arguments are taken")
	}
	return run(ctx, rest)
}

// parse reads flags wherever they stand, up to a "--", and gives the arguments between and after them.
func parse(flags *flag.FlagSet, args []string) (rest []string, err error) {
	var last []string
	if i := slices.Index(args, "--"); i >= 0 {
		args, last = args[:i], args[i+1:]
	}
	for {
		if err := flags.Parse(args); err != nil {
			return nil, err
		}
		if flags.NArg() == 0 {
			return append(rest, last...), nil
		}
		rest, args = append(rest, flags.Arg(0)), flags.Args()[1:]
	}
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
	text := oneLine(err)
	if canopy.Unreached(err) {
		text += ": " + toCheck
	}
	_, _ = fmt.Fprintf(m.Stderr, "canopy %s: %s\n", cmd.name, text)
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

func isHelp(arg string) bool { return slices.Contains([]string{"--help", "-help", "-h"}, arg) }

func isVersion(arg string) bool {
	return slices.Contains([]string{"version", "--version", "-version"}, arg)
}

// groupOf gives the commands of the group that is named alone, such as key.
func groupOf(words []string) (list []command) {
	if len(words) != 1 {
		return nil
	}
	for _, c := range commands {
		if strings.HasPrefix(c.name, words[0]+" ") {
			list = append(list, c)
		}
	}
	return list
}

func (m *Main) groupHelp(name string, group []command) {
	_, _ = fmt.Fprintf(m.Stdout, "Usage: canopy %s COMMAND [FLAGS] [ARGUMENTS]\n\n", name)
	m.list(group)
}

func (m *Main) list(commands []command) {
	w := tabwriter.NewWriter(m.Stdout, 0, 0, 3, ' ', 0)
	for _, c := range commands {
		_, _ = fmt.Fprintf(w, "  %s\t%s\n", strings.TrimSpace(c.name+" "+c.args), c.short)
	}
	_ = w.Flush()
	_, _ = fmt.Fprint(m.Stdout, "\ncanopy COMMAND --help tells more of each, canopy --version which version this is.\n")
}

func (m *Main) commandHelp(c *command, flags *flag.FlagSet) {
	usage := c.name
	flags.VisitAll(func(*flag.Flag) { usage = c.name + " [FLAGS]" })
	_, _ = fmt.Fprintf(m.Stdout, "Usage: canopy %s\n\n%s.\n", strings.TrimSpace(usage+" "+c.args), c.short)
	if c.long != "" {
		_, _ = fmt.Fprintf(m.Stdout, "\n%s\n", strings.TrimSpace(c.long))
	}
	if usage != c.name {
		_, _ = fmt.Fprint(m.Stdout, "\nFlags:\n")
		flags.SetOutput(m.Stdout)
		flags.PrintDefaults()
	}
}

// logger writes text on a terminal and JSON elsewhere.
func (m *Main) logger() *slog.Logger { return slog.New(m.handler(m.Stderr)) }

// gathered is the logger of a process that stays, whose lines are written together.
func (m *Main) gathered() *slog.Logger {
	if m.log == nil {
		m.log = lines.NewWriter(m.Stderr)
	}
	return slog.New(lines.Handler(m.handler(m.log), m.log))
}

func (m *Main) handler(to io.Writer) slog.Handler {
	if f, ok := m.Stderr.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return slog.NewTextHandler(to, nil)
	}
	return slog.NewJSONHandler(to, nil)
}
