package app

import (
	"runtime/debug"

	"canopy/internal/config"
)

// gcPercent trades memory for speed: the garbage collector runs when the heap has grown to five
// times of what is live, or nears the limit. A worker's need is bounded, by the texts that it has at
// hand and the indexes that it keeps, so that it is held to less.
const (
	gcPercent    = 400
	memoryLimit  = 1 << 30
	workerMemory = 160 << 20
)

// TuneMemory sets the garbage collector for a process of a mode. GOGC and GOMEMLIMIT in the environment
// win.
func TuneMemory(mode config.Mode, getenv func(string) string) {
	if getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	limit := int64(memoryLimit)
	if mode == config.Worker {
		limit = workerMemory
	}
	if getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit)
	}
}
