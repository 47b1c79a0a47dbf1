// Command release builds what a release consists of: one archive for each platform, with the program,
// the papers and the licences of all that is linked into it, and the checksums of the archives. The same
// commit and the same version of Go give the same bytes, on any machine. `make release` runs it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	var o options
	flag.StringVar(&o.version, "version", "dev", "version, as the names of the archives have it")
	flag.StringVar(&o.ldflags, "ldflags", "", "flags for the linker")
	flag.StringVar(&o.out, "out", "dist", "folder that the archives go to; what is there already is removed")
	flag.Parse()
	o.program, o.platforms = "./cmd/canopy", platforms
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

type options struct {
	version, ldflags, out string
	// program is the package that is built.
	program   string
	platforms []platform
}

// platform is an operating system and an architecture, by Go's names for them.
type platform struct{ os, arch string }

var platforms = []platform{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}}

// papers are the files of the source that every archive holds.
var papers = []string{"LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md"}

func run(ctx context.Context, o options) error {
	when, err := commitTime(ctx)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(o.out); err != nil {
		return err
	}
	if err := os.MkdirAll(o.out, 0o750); err != nil {
		return err
	}
	var sums strings.Builder
	for _, p := range o.platforms {
		name := strings.Join([]string{filepath.Base(o.program), o.version, p.os, p.arch}, "_")
		files, err := o.files(ctx, p)
		if err != nil {
			return fmt.Errorf("%s/%s: %w", p.os, p.arch, err)
		}
		sum, err := pack(filepath.Join(o.out, name+".tar.gz"), name, files, when)
		if err != nil {
			return err
		}
		// In the form that `sha256sum -c` and `shasum -a 256 -c` read.
		fmt.Fprintf(&sums, "%x  %s.tar.gz\n", sum, name)
	}
	fmt.Print(sums.String())
	return write(filepath.Join(o.out, "SHA256SUMS"), []byte(sums.String()))
}

// commitTime is the time that the files of the archives have: SOURCE_DATE_EPOCH, by the custom of
// reproducible builds, otherwise when the commit was made.
func commitTime(ctx context.Context) (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		out, err := exec.CommandContext(ctx, "git", "log", "-1", "--format=%ct").Output()
		if err != nil {
			return time.Time{}, fmt.Errorf("the time of the commit: %w (outside a repository set SOURCE_DATE_EPOCH)", err)
		}
		text = strings.TrimSpace(string(out))
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	return time.Unix(seconds, 0).UTC(), err
}

// files makes what the archive of a platform holds.
func (o options) files(ctx context.Context, p platform) ([]file, error) {
	program, err := o.build(ctx, p)
	if err != nil {
		return nil, err
	}
	licences, err := thirdParty(ctx, o.program, p)
	if err != nil {
		return nil, err
	}
	list := []file{{filepath.Base(o.program), 0o755, program}, {"THIRD-PARTY-LICENSES.txt", 0o644, licences}}
	for _, name := range papers {
		content, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		list = append(list, file{name, 0o644, content})
	}
	return list, nil
}

// build gives the program for a platform. Paths, stamps of version control and the environment's
// preferences stay out of it.
func (o options) build(ctx context.Context, p platform) ([]byte, error) {
	dir, err := os.MkdirTemp("", "canopy-release-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	to := filepath.Join(dir, "program")
	if _, err := p.ask(ctx, "build", "-trimpath", "-buildvcs=false", "-ldflags", o.ldflags, "-o", to, o.program); err != nil {
		return nil, err
	}
	return os.ReadFile(to)
}

// ask runs the go command for a platform and gives what it answers.
func (p platform) ask(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), "GOOS="+p.os, "GOARCH="+p.arch, "CGO_ENABLED=0",
		"GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOFIPS140=off", "GOFLAGS=-mod=readonly", "GOWORK=off")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("go %s: %w", args[0], err)
	}
	return string(out), err
}
