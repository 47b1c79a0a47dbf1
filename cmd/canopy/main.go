// Command canopy is the whole platform in one binary: the API, the workers, and the operator's
// tools. `canopy help` lists its commands.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	_ "canopy/internal/extract/child" // a process that is to read a document goes no further than this
)

func main() {
	os.Exit(run(os.Args[1:]))
}

// run runs one command until it is told to end; when told once more, the process ends at once.
func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	m := &Main{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Environ: os.Environ()}
	logLibraries(m.logger())
	return m.Run(ctx, args)
}
