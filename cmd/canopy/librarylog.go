package main

import (
	"log"
	"log/slog"

	"canopy/internal/redisconn"
)

// logLibraries has what libraries tell by themselves written as lines of the process's log, and not in forms of their own: clients of Redis, and whatever
// uses Go's package log, as net/http does where a receiver sends more than its answer.
func logLibraries(to *slog.Logger) {
	redisconn.LogTo(to)
	log.SetFlags(0)
	log.SetOutput(slog.NewLogLogger(to.Handler(), slog.LevelWarn).Writer())
}
