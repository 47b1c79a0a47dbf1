package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"canopy/internal/config"
)

// settingsHelp tells the settings, which come from the environment.
func settingsHelp() string {
	var b strings.Builder
	b.WriteString("Settings come from the environment:\n\n")
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, v := range config.Variables() {
		_, _ = fmt.Fprintf(w, "  %s\t%s\t(%s)\n", v.Name, v.Meaning, v.Default)
	}
	_ = w.Flush()
	return b.String()
}
