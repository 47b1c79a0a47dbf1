package devstack

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// places decides where a cluster's data lies. It lies in dir itself, unless the account that the
// server runs as can't get there (a checkout under /root); then in a folder of the system, which
// the file "location" in dir remembers.
type places struct {
	dir     string
	account *account
	durable bool
	log     *slog.Logger
}

func (p places) memory() string { return filepath.Join(p.dir, "location") }

// remembered is the folder that an earlier start chose, or "" where it chose none.
func (p places) remembered() string {
	text, err := os.ReadFile(p.memory())
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// find gives the folder to hold the data, and remembers it.
func (p places) find(ctx context.Context, b binaries) (string, error) {
	if place := p.remembered(); place != "" {
		if err := checkOwn(place); err == nil {
			return place, nil
		}
		p.log.WarnContext(ctx, "the private PostgreSQL's data is gone; it starts anew", "folder", place)
	}
	if p.enterable(ctx, p.dir, b) {
		return p.dir, nil
	}
	var faults []error
	for _, base := range p.bases() {
		place := filepath.Join(base, p.name())
		err := p.take(ctx, place, b)
		if err == nil {
			return place, os.WriteFile(p.memory(), []byte(place+"\n"), 0o600)
		}
		faults = append(faults, err)
	}
	return "", fmt.Errorf("no folder for data that user %s can enter: %w", p.account.name, errors.Join(faults...))
}

// bases are the folders of the system to try. What is to last goes where no upkeep of temporary
// files removes it.
func (p places) bases() []string {
	if p.durable {
		return []string{"/var/lib", "/var/tmp"}
	}
	return []string{"/var/tmp"}
}

func (p places) name() string {
	sum := sha256.Sum256([]byte(p.dir))
	return "canopy-" + strconv.Itoa(os.Geteuid()) + "-" + hex.EncodeToString(sum[:6])
}

// take makes place. What is there already was left by a folder of the same name that has been
// removed since; nobody has its password any more.
func (p places) take(ctx context.Context, place string, b binaries) error {
	if _, err := os.Lstat(place); err == nil {
		if err := checkOwn(place); err != nil {
			return err
		}
		if err := endOrphan(ctx, filepath.Join(place, dataFolder), p.log); err != nil {
			return err
		}
		if err := os.RemoveAll(place); err != nil {
			return err
		}
	}
	if err := os.Mkdir(place, 0o711); err != nil { //nolint:gosec // the server's account passes through
		return err
	}
	if !p.enterable(ctx, place, b) {
		return errors.Join(fmt.Errorf("%s can't be entered", place), os.Remove(place))
	}
	return nil
}

// enterable tries instead of reading modes: parents, mounts and access lists all have a say.
func (p places) enterable(ctx context.Context, dir string, b binaries) bool {
	if p.account == nil {
		return true
	}
	_, err := command(ctx, p.account, dir, b.postgres(), "--version")
	return err == nil
}

// checkOwn refuses a folder that somebody else put there, in a place where everybody can.
func checkOwn(place string) error {
	info, err := os.Lstat(place)
	if err != nil {
		return err
	}
	if !info.IsDir() || !ownedByUs(info) {
		return fmt.Errorf("%s is not a folder of ours", place)
	}
	return nil
}
