package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"canopy/internal/config"
)

// load reads the settings, and tells of what is set in vain: it may be why they don't do.
func (m *Main) load(mode config.Mode) (*config.Config, error) {
	for _, w := range config.Unknown(m.Environ) {
		m.logger().Warn(w)
	}
	return config.Load(mode, m.Getenv)
}

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
