package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"canopy/cmd/canopy/top"
	"canopy/internal/access"
)

// Of a terminal: another screen beside the one that there was, and its top left corner, below which all is cleared.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l"
	leaveScreen = "\x1b[?25h\x1b[?1049l"
	goHome      = "\x1b[H\x1b[J"
)

func topCommand(m *Main, flags *flag.FlagSet) func(context.Context, []string) error {
	by := flags.String("by", "runsPerDay", "what companies are ordered by, a limit's name such as deliveriesPerDay, storageBytes, users")
	first := flags.Int("first", 10, "how many companies and operations are told, at most 100")
	every := flags.Duration("every", 2*time.Second, "how often it looks again, on a terminal")
	asJSON := flags.Bool("json", false, "look once, and write what was seen as JSON")
	at := m.remoteFlags(flags)
	return func(ctx context.Context, _ []string) error {
		if *every < time.Second/2 || *first < 1 || *first > 100 {
			return usagef("--every takes half a second or more, --first 1 to 100")
		}
		c, err := at.client(access.Tenant)
		if err != nil {
			return err
		}
		w := &top.Watcher{Client: c, User: m.Getenv("CANOPY_MONITOR_USER"), Password: m.Getenv("CANOPY_MONITOR_PASSWORD"), By: *by, First: *first}
		f, ok := m.Stdout.(*os.File)
		if !*asJSON && ok && term.IsTerminal(int(f.Fd())) {
			return watch(ctx, f, w, *every)
		}
		look, err := w.Look(ctx)
		switch {
		case err != nil:
			return err
		case *asJSON:
			return m.writeJSON(look)
		}
		_, err = fmt.Fprintln(m.Stdout, strings.Join(look.Lines(*by, printable), "\n"))
		return err
	}
}

// watch looks again and again until it is told to end, on a screen of its own. A look that fails is told in place of the next.
func watch(ctx context.Context, screen *os.File, w *top.Watcher, every time.Duration) error {
	_, _ = screen.WriteString(enterScreen)
	defer func() { _, _ = screen.WriteString(leaveScreen) }()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for seen := false; ; {
		look, err := w.Look(ctx)
		lines := []string{}
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && !seen:
			return err
		case err != nil:
			lines = append(lines, "not seen: "+oneLine(err))
		default:
			seen, lines = true, look.Lines(w.By, printable)
		}
		if _, err := screen.WriteString(goHome + fit(screen, lines)); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// fit cuts lines to the terminal.
func fit(screen *os.File, lines []string) string {
	width, height, err := term.GetSize(int(screen.Fd()))
	if err != nil || width < 1 || height < 2 {
		return strings.Join(lines, "\n")
	}
	lines = lines[:min(len(lines), height-1)]
	for i, line := range lines {
		if r := []rune(line); len(r) > width {
			lines[i] = string(r[:width])
		}
	}
	return strings.Join(lines, "\n")
}
