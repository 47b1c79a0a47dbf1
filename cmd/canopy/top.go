package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"canopy/cmd/canopy/top"
	"canopy/internal/access"
	"canopy/internal/quota"
)

// Of a terminal: another screen beside the one that there was, whose lines are cut and not wrapped, and without a cursor; its top left corner;
// what is left of a line, and of the screen, is cleared. Nothing is cleared before it is written anew, so that it does not flicker.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l\x1b[?7l"
	leaveScreen = "\x1b[?7h\x1b[?25h\x1b[?1049l"
	goHome      = "\x1b[H"
	clearLine   = "\x1b[K"
	clearBelow  = "\x1b[J"
)

func topCommand(m *Main, flags *flag.FlagSet) func(context.Context, []string) error {
	by := flags.String("by", "runsPerDay", "what companies are ordered by, a limit's name such as deliveriesPerDay, storageBytes, users")
	first := flags.Int("first", 10, "how many companies and operations are told, at most 100")
	every := flags.Duration("every", 2*time.Second, "how often it looks again, on a terminal")
	asJSON := flags.Bool("json", false, "look once, and write what was seen as JSON")
	once := flags.Bool("once", false, "look once, on a terminal, too")
	at := m.remoteFlags(flags)
	return func(ctx context.Context, _ []string) error {
		if *every < time.Second/2 || *first < 1 || *first > 100 {
			return usagef("--every takes half a second or more, --first 1 to 100")
		}
		if !slices.Contains(quota.Names(), quota.Name(*by)) {
			return usagef("--by must be one of %s, not %q", quota.List(), *by)
		}
		c, err := at.client(access.Tenant)
		if err != nil {
			return err
		}
		w := &top.Watcher{Client: c, User: m.Getenv("CANOPY_MONITOR_USER"), Password: m.Getenv("CANOPY_MONITOR_PASSWORD"), By: *by, First: *first}
		if f, ok := m.Stdout.(*os.File); ok && !*asJSON && !*once && m.onTerminal() {
			return watch(ctx, f, w, *every)
		}
		look, err := w.Look(ctx)
		switch {
		case err != nil:
			return err
		case *asJSON:
			return m.writeJSON(look)
		}
		_, err = fmt.Fprintln(m.Stdout, strings.Join(look.Lines(*by, printable, top.Size{}), "\n"))
		return err
	}
}

// watch looks again and again until it is told to end, on a screen of its own. A look that fails is told in place of the next.
func watch(ctx context.Context, screen *os.File, w *top.Watcher, every time.Duration) error {
	_, _ = screen.WriteString(enterScreen)
	defer func() { _, _ = screen.WriteString(leaveScreen) }()
	tick := time.NewTicker(every)
	defer tick.Stop()
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	defer signal.Stop(resized)
	for seen := (*top.Look)(nil); ; {
		look, err := w.Look(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && seen == nil:
			return err
		case err == nil:
			seen = look
		}
		for looking := true; looking; {
			if err := draw(screen, w, seen, err); err != nil {
				return err
			}
			select {
			case <-ctx.Done():
				return nil
			case <-resized:
			case <-tick.C:
				looking = false
			}
		}
	}
}

// draw shows what was seen last, below why nothing was seen since, in the room that the terminal has.
func draw(screen *os.File, w *top.Watcher, seen *top.Look, fault error) error {
	var room top.Size
	if width, height, err := term.GetSize(int(screen.Fd())); err == nil {
		room = top.Size{Width: width, Height: height}
	}
	lines := []string{}
	if fault != nil {
		lines = append(lines, "not seen: "+printable(oneLine(fault)))
		room.Height = max(0, room.Height-1)
	}
	lines = append(lines, seen.Lines(w.By, printable, room)...)
	if room.Height > 0 {
		lines = lines[:min(len(lines), room.Height)]
	}
	_, err := screen.WriteString(goHome + strings.Join(lines, clearLine+"\n") + clearLine + clearBelow)
	return err
}
