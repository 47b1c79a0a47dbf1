package app

import (
	"math"
	"runtime/debug"

	"canopy/internal/config"
)

// gcPercent trades memory for speed: the garbage collector runs when the heap has grown to five
// times of what is live, or nears the limit.
const gcPercent = 400

// beside is the memory that a process of a mode aims at beside the search indexes that it may keep, in bytes. The
// program itself and what the system keeps for it come on top, some 30 MiB.
var beside = map[config.Mode]int64{
	config.Server: 100 << 20,
	config.Worker: 96 << 20,
	config.Dev:    256 << 20,
}

// containerShare is how much of a container's memory the garbage collector aims at: it counts neither the
// program itself nor what the system keeps for it.
const containerShare = 0.9

// TuneMemory sets the garbage collector for a process of a mode that keeps search indexes of so many bytes, below
// the limit of its container (0 for none). GOGC and GOMEMLIMIT in the environment win.
func TuneMemory(mode config.Mode, vectorCache, container int64, getenv func(string) string) {
	if getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit(mode, vectorCache, container))
	}
}

func memoryLimit(mode config.Mode, vectorCache, container int64) int64 {
	limit := beside[mode] + min(vectorCache, math.MaxInt64-beside[mode])
	if container > 0 {
		limit = min(limit, int64(containerShare*float64(container)))
	}
	return limit
}
