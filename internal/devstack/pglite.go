package devstack

import (
	"bufio"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// pgliteFiles are the project of npm that PGlite is served by.
//
//go:embed pglite/package.json pglite/package-lock.json pglite/.npmrc pglite/serve.js
var pgliteFiles embed.FS

// pglitePatience bounds a start, in which V8 compiles a whole PostgreSQL: on a machine with much else to do that took more than a minute.
const pglitePatience = 2 * time.Minute

// PGlite is a PostgreSQL with pgvector as WebAssembly, empty and in memory, listening on 127.0.0.1 alone. Tests use it where the installed PostgreSQL has
// no pgvector: it is the real thing, and not its speed. One statement runs at a time.
type PGlite struct {
	proc *process
	port int
	// alive is the server's standard input: it ends with it.
	alive io.Closer
}

// StartPGlite installs what it takes by npm, unless that is there, and starts a server. It runs until Remove, but never longer than this process.
// One that is brief keeps what V8's first compiler makes of it: the better code of the second takes more of the processors to make than all that
// a test asks. The error is ErrNoBinaries where it can't be installed.
func StartPGlite(ctx context.Context, brief bool) (*PGlite, error) {
	dir, err := installPGlite(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: PGlite, by npm: %w", ErrNoBinaries, err)
	}
	args := []string{"serve.js"}
	if brief {
		args = []string{"--liftoff-only", "serve.js"}
	}
	cmd := exec.Command("node", args...)
	cmd.Dir, cmd.Env = dir, serverEnv()
	var said strings.Builder
	cmd.Stderr = &said
	p := &PGlite{}
	if p.alive, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if p.proc, err = startProcess(cmd, nil, syscall.SIGKILL); err != nil {
		return nil, err
	}
	timer := time.AfterFunc(pglitePatience, func() { p.proc.signal(syscall.SIGKILL) })
	defer timer.Stop()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err == nil {
		p.port, err = strconv.Atoi(strings.TrimSpace(line))
	}
	if err != nil {
		p.Remove()
		return nil, fmt.Errorf("PGlite does not start: %w: %s", err, said.String())
	}
	return p, nil
}

// URL is how to connect.
func (p *PGlite) URL() string {
	return "postgres://postgres:none@" + loopback(p.port) + "/postgres?sslmode=disable&connect_timeout=5"
}

// Remove ends it. It leaves nothing.
func (p *PGlite) Remove() { p.proc.stop(context.Background(), syscall.SIGKILL, syscall.SIGKILL) }

// installPGlite gives the folder that it is installed in: one for each state of its files, which all test runs of a user share.
func installPGlite(ctx context.Context) (dir string, err error) {
	lock, err := pgliteFiles.ReadFile("pglite/package-lock.json")
	if err != nil {
		return "", err
	}
	script, err := pgliteFiles.ReadFile("pglite/serve.js")
	if err != nil {
		return "", err
	}
	base, err := os.UserCacheDir()
	if err != nil {
		base = os.TempDir()
	}
	sum := sha256.Sum256(append(lock, script...))
	dir = filepath.Join(base, "canopy-pglite-"+hex.EncodeToString(sum[:6]))
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(base, 0o700); err != nil {
		return "", err
	}
	made, err := os.MkdirTemp(base, "canopy-pglite-") // whoever is first has it in its place
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(made) }()
	files, err := fs.Sub(pgliteFiles, "pglite")
	if err == nil {
		err = os.CopyFS(made, files)
	}
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "npm", "ci", "--loglevel", "error")
	cmd.Dir = made
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	if err := os.Rename(made, dir); err != nil && !errors.Is(err, fs.ErrExist) && !errors.Is(err, syscall.ENOTEMPTY) {
		return "", err
	}
	return dir, nil
}
