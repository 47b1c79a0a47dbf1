package devstack

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	dataFolder = "data"
	// superuser owns the cluster and the database of the same name.
	superuser = "canopy"
)

// clusterMajor is the PostgreSQL version that wrote the data, or 0 where there is none yet.
func clusterMajor(place string) (int, error) {
	text, err := os.ReadFile(filepath.Join(place, dataFolder, "PG_VERSION"))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}

// unfinishedCluster makes an empty folder for a cluster in place. The cluster gets its name only when it is whole, so that
// one that was interrupted is never started.
func unfinishedCluster(place string, a *account) (string, error) {
	unfinished := filepath.Join(place, dataFolder+".new")
	return unfinished, errors.Join(os.RemoveAll(unfinished), os.Mkdir(unfinished, 0o700), a.give(unfinished))
}

// createCluster makes a cluster in place.
func createCluster(ctx context.Context, place string, b binaries, a *account, password string, durable bool) error {
	unfinished, err := unfinishedCluster(place, a)
	if err != nil {
		return err
	}
	secretFile := unfinished + ".password"
	if err := os.WriteFile(secretFile, []byte(password+"\n"), 0o600); err != nil {
		return err
	}
	defer func() { _ = os.Remove(secretFile) }()
	if err := a.give(secretFile); err != nil {
		return err
	}
	args := []string{
		"-D", unfinished, "-U", superuser, "--pwfile", secretFile, "--encoding", "UTF8",
		"--auth-host", "scram-sha-256", "--auth-local", "scram-sha-256", "--no-instructions",
	}
	if !durable {
		args = append(args, "--no-sync")
	}
	if err := initialise(ctx, b, a, place, args); err != nil {
		return fmt.Errorf("create a PostgreSQL cluster: %w", err)
	}
	return os.Rename(unfinished, filepath.Join(place, dataFolder))
}

// initialise runs initdb with the best locale that the system has: bytewise order everywhere, and
// Unicode's letters where C.UTF-8 is known.
func initialise(ctx context.Context, b binaries, a *account, place string, args []string) error {
	_, err := command(ctx, a, place, b.initdb(), append(args, "--locale=C.UTF-8", "--lc-collate=C")...)
	if err == nil || ctx.Err() != nil {
		return err
	}
	_, err = command(ctx, a, place, b.initdb(), append(args, "--locale=C")...)
	return err
}

// keptPassword is the superuser's password, made before the cluster is.
func keptPassword(dir string, clusterExists bool) (string, error) {
	file := filepath.Join(dir, "password")
	text, err := os.ReadFile(file)
	password := strings.TrimSpace(string(text))
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", err
	case password != "":
		return password, nil
	case clusterExists:
		return "", fmt.Errorf("%s is gone, and with it the way into the data: put it back, or remove %s to start anew", file, dir)
	}
	password = rand.Text()
	return password, os.WriteFile(file, []byte(password+"\n"), 0o600)
}
