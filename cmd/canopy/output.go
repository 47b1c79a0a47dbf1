package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"golang.org/x/term"
)

// onTerminal tells whether people read what is written.
func (m *Main) onTerminal() bool {
	f, ok := m.Stdout.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// writeJSON writes a result for programs.
func (m *Main) writeJSON(v any) error {
	out := json.NewEncoder(m.Stdout)
	out.SetIndent("", "  ")
	out.SetEscapeHTML(false)
	return out.Encode(v)
}

// jsonFlag declares --json, by which a command tells programs what it tells people otherwise.
func jsonFlag(flags *flag.FlagSet) *bool {
	return flags.Bool("json", false, "write what came of it as JSON")
}

// write tells what came of a command: as JSON for programs, otherwise as text for people.
func (m *Main) write(asJSON bool, v any, text string) error {
	if asJSON {
		return m.writeJSON(v)
	}
	_, err := io.WriteString(m.Stdout, text)
	return err
}

// writeTable writes rows for people, below the names of their columns.
func (m *Main) writeTable(columns []string, rows [][]string) error {
	w := tabwriter.NewWriter(m.Stdout, 0, 0, 3, ' ', 0)
	for _, row := range append([][]string{columns}, rows...) {
		for i, cell := range row {
			row[i] = printable(cell)
		}
		_, _ = fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	return w.Flush()
}

// printable keeps what others have named from moving the cursor of a terminal, or the columns of a table.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return '·'
		}
		return r
	}, s)
}
