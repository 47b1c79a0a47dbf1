package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"canopy/internal/devstack/cluster"
)

// first is the program that the cells begin with: an earlier one where they are upgraded.
func (t *cells) first(ctx context.Context) (program string, err error) {
	if !slices.ContainsFunc(t.dealt(), func(b *blow) bool { return b.name == upgraded }) {
		return t.o.binary, nil
	}
	commit := t.o.from
	if commit == "" {
		if commit, err = earlier(ctx); err != nil {
			return "", fmt.Errorf("no commit to upgrade from (-from names one): %w", err)
		}
	}
	if !hasCells(ctx, commit) {
		return "", fmt.Errorf("the commit %s has no cells, or is not here: -from names another", commit)
	}
	build := exec.CommandContext(ctx, "scripts/previous.sh", commit, t.earlierDir())
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		return "", fmt.Errorf("build the program of %s: %w", commit, err)
	}
	t.from, err = t.describe(commit)
	return filepath.Join(t.earlierDir(), "canopy"), err
}

// describe says which program the cells begin with.
func (t *cells) describe(commit string) (string, error) {
	schema, err := os.ReadFile(filepath.Join(t.earlierDir(), "schema"))
	return fmt.Sprintf("%s, of the schema %s", commit, strings.TrimSpace(string(schema))), err
}

func (t *cells) earlierDir() string { return filepath.Join(t.dir, "earlier") }

// earlier is the newest release before this commit that has cells or, where there is none, the commit before the newest migration, so that there is one to make.
func earlier(ctx context.Context) (commit string, err error) {
	tags, err := git(ctx, "tag", "--merged", "HEAD~", "--sort=-version:refname", "v*")
	if err != nil {
		return "", err
	}
	for tag := range strings.FieldsSeq(tags) {
		if hasCells(ctx, tag) {
			return tag, nil
		}
	}
	newest, err := git(ctx, "log", "-1", "--diff-filter=A", "--format=%h", "--", "db/migrations")
	if err != nil {
		return "", err
	}
	return git(ctx, "rev-parse", "--short", newest+"~")
}

func hasCells(ctx context.Context, commit string) bool {
	_, err := git(ctx, "cat-file", "-e", commit+":docs/cells.md")
	return err == nil
}

func git(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", args...).Output()
	if failed := new(exec.ExitError); errors.As(err, &failed) {
		err = fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(string(failed.Stderr)))
	}
	return strings.TrimSpace(string(out)), err
}

// upgrade migrates the cell first, then the home, and has each process of the earlier program replaced in turn.
func (t *cells) upgrade(ctx context.Context) error {
	for _, c := range []*cluster.Cluster{t.home.Cell, t.home} {
		if err := c.Upgrade(ctx, t.o.binary); err != nil {
			return err
		}
	}
	return t.roll(ctx)
}
