// Package platform starts whole platforms for tests, asks them as their callers do, and looks into their
// tables. What two packages of end-to-end tests need is here; what one needs is there.
package platform

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"canopy/db"
	"canopy/internal/app"
	"canopy/internal/config"
	"canopy/internal/devstack/devtest"
	_ "canopy/internal/extract/child" // these tests' binaries are the children of their platforms
	"canopy/internal/redisconn"
)

// runVariable makes the test binary run as one of the program's commands.
const runVariable = "CANOPY_TEST_RUN"

// Main runs a package's tests. It is for TestMain.
func Main(m *testing.M) {
	redisconn.LogTo(slog.New(slog.NewJSONHandler(os.Stderr, nil))) // as the program does
	run := func() int { return test(m) }
	if command := os.Getenv(runVariable); command != "" {
		run = func() int { return program(command) }
	}
	os.Exit(run())
}

// testMemory is what the indexes of all platforms of a test process may have, in bytes.
const testMemory = 768 << 20

// test runs tests in a process that trusts the certificate of their servers.
func test(m *testing.M) int {
	app.TuneMemory(config.Dev, testMemory, 0, os.Getenv)
	dir, err := os.MkdirTemp("", "canopy-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, "ca.pem")
	if err := writeCertificate(file); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	// The system's roots are read once, by whoever needs them first.
	if err := os.Setenv("SSL_CERT_FILE", file); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return devtest.Run(m)
}

// program is `canopy serve`, `canopy worker`, or what is beside them.
func program(command string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	log := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	if err := runProgram(ctx, command, app.Options{Version: "test", Log: log, LimitPatience: limitPatience}); err != nil {
		log.Error(err.Error())
		return 1
	}
	return 0
}

// JoinAnew is the command of StartProgram that is `canopy region join --anew`. With the setting HoldAt it says "holding" and stops once the table of that name is compared.
const (
	JoinAnew = "join anew"
	HoldAt   = "CANOPY_TEST_HOLD_AT"
)

func joinAnew(ctx context.Context) error {
	m, err := db.NewMigrator(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		return err
	}
	defer func() { _ = m.Close() }()
	_, err = m.JoinAnew(ctx, os.Getenv("CANOPY_REGION"), os.Getenv("CANOPY_HOME_URL"), func(d db.Difference) {
		if d.Table == os.Getenv(HoldAt) {
			_, _ = fmt.Fprintln(os.Stderr, "holding")
			<-ctx.Done()
		}
	})
	return err
}

// Split is the command of StartProgram that is `canopy region split`, on the home's settings: SplitInto gives them. With HoldAt it stops there, in the phase of HoldIn.
const (
	Split       = "split"
	HoldIn      = "CANOPY_TEST_HOLD_IN"
	splitRegion = "CANOPY_TEST_REGION"
	splitCell   = "CANOPY_TEST_CELL"
	splitBlobs  = "CANOPY_TEST_CELL_BLOBS"
)

func split(ctx context.Context) (err error) {
	home := &config.Config{DatabaseURL: os.Getenv("DATABASE_URL"), BlobURL: os.Getenv("CANOPY_BLOB_URL")}
	cell := &config.Config{DatabaseURL: os.Getenv(splitCell), BlobURL: os.Getenv(splitBlobs)}
	var m *app.Mover
	m, err = app.OpenMover(ctx, home, cell, os.Getenv(splitRegion), func(d db.Difference) {
		if st, failed := m.State(ctx); failed == nil && d.Table == os.Getenv(HoldAt) && st.Phase == os.Getenv(HoldIn) {
			_, _ = fmt.Fprintln(os.Stderr, "holding")
			<-ctx.Done()
		}
	})
	if err != nil {
		return err
	}
	defer m.Close()
	return m.Move(ctx)
}

func runProgram(ctx context.Context, command string, o app.Options) error {
	switch command {
	case JoinAnew:
		return joinAnew(ctx)
	case Split:
		return split(ctx)
	}
	mode := config.Server
	if command == "worker" {
		mode = config.Worker
	}
	cfg, err := config.Load(mode, os.Getenv)
	if err != nil {
		return err
	}
	app.TuneMemory(mode, cfg.VectorCache, 0, os.Getenv)
	if mode == config.Worker {
		return app.Work(ctx, cfg, nil, o)
	}
	return app.Serve(ctx, cfg, o)
}
