package devstack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// oldestMajor is the oldest PostgreSQL that the platform's SQL runs on.
const oldestMajor = 14

// binaryFolders are where packages of PostgreSQL put its server, outside PATH: Debian, Red Hat,
// Homebrew on both kinds of Mac, Postgres.app, and a build from source.
var binaryFolders = []string{
	"/usr/lib/postgresql/*/bin",
	"/usr/pgsql-*/bin",
	"/opt/homebrew/opt/postgresql@*/bin",
	"/usr/local/opt/postgresql@*/bin",
	"/Applications/Postgres.app/Contents/Versions/*/bin",
	"/usr/local/pgsql/bin",
}

var versionPattern = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// binaries is one installed PostgreSQL server.
type binaries struct {
	dir   string
	major int
}

func (b binaries) initdb() string   { return filepath.Join(b.dir, "initdb") }
func (b binaries) postgres() string { return filepath.Join(b.dir, "postgres") }

func (b binaries) basebackup() string { return filepath.Join(b.dir, "pg_basebackup") }

// findBinaries gives the newest server whose programs run under the account, or the newest of one
// major version where data of that version is there already.
func findBinaries(ctx context.Context, a *account, major int) (binaries, error) {
	var found []binaries
	for _, dir := range candidateFolders() {
		if b, ok := probe(ctx, dir, a); ok {
			found = append(found, b)
		}
	}
	if err := ctx.Err(); err != nil {
		return binaries{}, err // nothing was tried
	}
	if len(found) == 0 {
		return binaries{}, fmt.Errorf("PostgreSQL: %w: install version %d or newer, or set DATABASE_URL", ErrNoBinaries, oldestMajor)
	}
	slices.SortStableFunc(found, func(x, y binaries) int { return cmp.Compare(y.major, x.major) })
	if major == 0 {
		if found[0].major < oldestMajor {
			return binaries{}, fmt.Errorf("PostgreSQL: %w: version %d is installed, %d or newer is needed", ErrNoBinaries, found[0].major, oldestMajor)
		}
		return found[0], nil
	}
	if i := slices.IndexFunc(found, func(b binaries) bool { return b.major == major }); i >= 0 {
		return found[i], nil
	}
	return binaries{}, fmt.Errorf("PostgreSQL: %w: the data is of version %d, installed is %d: install version %d, or move the data away",
		ErrNoBinaries, major, found[0].major, major)
}

// candidateFolders are the folders that hold both programs. A lone `postgres` in PATH may be a
// wrapper that knows another place; initdb beside it tells the real one.
func candidateFolders() []string {
	var dirs []string
	for _, pattern := range binaryFolders {
		matches, _ := filepath.Glob(pattern) // the patterns are well-formed
		dirs = append(dirs, matches...)
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			dirs = append(dirs, filepath.Dir(real))
		}
	}
	slices.Sort(dirs)
	return slices.DeleteFunc(slices.Compact(dirs), func(dir string) bool {
		_, noServer := os.Stat(filepath.Join(dir, "postgres"))
		_, noInit := os.Stat(filepath.Join(dir, "initdb"))
		return noServer != nil || noInit != nil
	})
}

// probe runs the server in dir to learn its version.
func probe(ctx context.Context, dir string, a *account) (binaries, bool) {
	b := binaries{dir: dir}
	out, err := command(ctx, a, "/", b.postgres(), "--version")
	if err != nil {
		return b, false
	}
	m := versionPattern.FindStringSubmatch(out)
	if m == nil {
		return b, false
	}
	b.major, err = strconv.Atoi(m[1])
	return b, err == nil
}

// command runs a short program to its end, in dir and under the account, and gives what it printed.
func command(ctx context.Context, a *account, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, serverEnv()
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	p, err := startProcess(cmd, a, syscall.SIGKILL)
	if err != nil {
		return "", err
	}
	<-p.done
	if !cmd.ProcessState.Success() {
		return "", errors.Join(ctx.Err(), fmt.Errorf("%s: %s: %s", filepath.Base(name), cmd.ProcessState, lastLine(out.String())))
	}
	return out.String(), nil
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// Program is where one of PostgreSQL's programs is, such as pg_dump, of the newest version that is installed.
func Program(ctx context.Context, name string) (string, error) {
	a, err := serverAccount()
	if err != nil {
		return "", err
	}
	b, err := findBinaries(ctx, a, 0)
	if err != nil {
		return "", err
	}
	path := filepath.Join(b.dir, name)
	_, err = os.Stat(path)
	return path, err
}
