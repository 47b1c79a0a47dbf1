package app

import (
	"math"
	"runtime/debug"
	"testing"

	"canopy/internal/config"
)

func TestMemoryLimit(t *testing.T) {
	for _, tt := range []struct {
		name             string
		mode             config.Mode
		cache, container int64
		want             int64
	}{
		{"serve", config.Server, 256 << 20, 0, 356 << 20},
		{"worker", config.Worker, 64 << 20, 0, 160 << 20},
		{"in a small container", config.Server, 256 << 20, 200 << 20, 180 << 20},
		{"in a large container", config.Server, 256 << 20, 4 << 30, 356 << 20},
		{"without end", config.Server, math.MaxInt64, 0, math.MaxInt64},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := memoryLimit(tt.mode, tt.cache, tt.container); got != tt.want {
				t.Errorf("%d MiB, not %d", got>>20, tt.want>>20)
			}
		})
	}
}

// TestTheEnvironmentWins: what an operator says to Go itself is left alone.
func TestTheEnvironmentWins(t *testing.T) {
	before, percent := debug.SetMemoryLimit(-1), debug.SetGCPercent(100)
	t.Cleanup(func() {
		debug.SetMemoryLimit(before)
		debug.SetGCPercent(percent)
	})
	debug.SetMemoryLimit(7 << 30)
	TuneMemory(config.Server, 1<<20, 1<<30, func(name string) string {
		return map[string]string{"GOMEMLIMIT": "7GiB", "GOGC": "100"}[name]
	})
	if limit, percent := debug.SetMemoryLimit(-1), debug.SetGCPercent(100); limit != 7<<30 || percent != 100 {
		t.Errorf("a limit of %d, and %d%%", limit, percent)
	}
	TuneMemory(config.Server, 1<<20, 0, func(string) string { return "" })
	if limit, percent := debug.SetMemoryLimit(-1), debug.SetGCPercent(100); limit != 101<<20 || percent != gcPercent {
		t.Errorf("a limit of %d, and %d%%", limit, percent)
	}
}
