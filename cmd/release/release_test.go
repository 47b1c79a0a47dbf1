package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

const secondsOfTest = "1700000000"

// small are options for a release of this small program for this machine alone, from the root folder.
func small(t *testing.T) options {
	t.Helper()
	t.Setenv("SOURCE_DATE_EPOCH", secondsOfTest)
	return options{version: "v1", out: t.TempDir(), program: "./cmd/release", platforms: []platform{{runtime.GOOS, runtime.GOARCH}}}
}

// unpack reads an archive, and checks what all its files have in common.
func unpack(t *testing.T, archive []byte, folder string) map[string]*bytes.Buffer {
	t.Helper()
	plain, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]*bytes.Buffer{}
	for r := tar.NewReader(plain); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		name, inside := strings.CutPrefix(header.Name, folder+"/")
		if !inside || fmt.Sprint(header.ModTime.Unix()) != secondsOfTest || header.Uid != 0 || header.Uname != "" {
			t.Errorf("%+v", header)
		}
		files[name] = &bytes.Buffer{}
		if _, err := io.Copy(files[name], r); err != nil {
			t.Fatal(err)
		}
		if want := map[bool]int64{true: 0o755, false: 0o644}[name == "release"]; header.Mode != want {
			t.Errorf("%s has the mode %o", name, header.Mode)
		}
	}
}

// TestReleaseIsReproducible makes a release twice, in different folders, and looks into it.
func TestReleaseIsReproducible(t *testing.T) {
	t.Chdir("../..")
	first, second := small(t), small(t)
	name := fmt.Sprintf("release_v1_%s_%s", runtime.GOOS, runtime.GOARCH)
	var made [2][]byte
	for i, o := range []options{first, second} {
		stale := filepath.Join(o.out, "release_v0_linux_amd64.tar.gz")
		if err := os.WriteFile(stale, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := run(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		archive, err := os.ReadFile(filepath.Join(o.out, name+".tar.gz"))
		if err != nil {
			t.Fatal(err)
		}
		made[i] = archive
		sums, err := os.ReadFile(filepath.Join(o.out, "SHA256SUMS"))
		if want := fmt.Sprintf("%x  %s.tar.gz\n", sha256.Sum256(archive), name); err != nil || string(sums) != want {
			t.Errorf("%v: the checksums are\n%s, not\n%s", err, sums, want)
		}
		if _, err := os.Stat(stale); !errors.Is(err, os.ErrNotExist) {
			t.Error("an older archive is left beside the new one")
		}
	}
	if !bytes.Equal(made[0], made[1]) {
		t.Error("two releases of the same source differ")
	}
	files := unpack(t, made[0], name)
	for _, paper := range append(papers, "THIRD-PARTY-LICENSES.txt") {
		if files[paper] == nil || files[paper].Len() == 0 {
			t.Errorf("%s is missing", paper)
		}
	}
	program := filepath.Join(t.TempDir(), "release")
	if err := os.WriteFile(program, files["release"].Bytes(), 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), program, "-h").CombinedOutput(); err != nil || !strings.Contains(string(out), "-ldflags") {
		t.Errorf("%v: %s", err, out)
	}
	if here, err := os.Getwd(); err != nil || bytes.Contains(files["release"].Bytes(), []byte(here)) {
		t.Errorf("%v: the program names the folder that it was built in", err)
	}
}

// TestLicencesOfAllThatIsLinked compares the papers with what the toolchain says is in a program.
func TestLicencesOfAllThatIsLinked(t *testing.T) {
	t.Chdir("../..")
	for _, p := range []platform{{"linux", "amd64"}, {"darwin", "arm64"}} {
		text, err := thirdParty(t.Context(), "./cmd/canopy", p)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"Go and its standard library", "github.com/lib/pq v", "github.com/klippa-app/go-pdfium v", "golang.org/x/sys v", "swagger-ui-dist "} {
			if found := regexp.MustCompile(`(?m)^={78}\n`+regexp.QuoteMeta(name)).FindAll(text, -1); len(found) != 1 {
				t.Errorf("%s/%s: %q stands there %d times", p.os, p.arch, name, len(found))
			}
		}
		if bytes.Contains(text, []byte("pgregory.net/rapid")) {
			t.Errorf("%s/%s: what only tests use is there", p.os, p.arch)
		}
	}
	if err := addPapers(&bytes.Buffer{}, "example.com/none v1.0.0", t.TempDir()); err == nil || !strings.Contains(err.Error(), "example.com/none v1.0.0") {
		t.Errorf("a module without a licence: %v", err)
	}
}

func TestCommitTimeThatIsNoNumber(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "yesterday")
	if _, err := commitTime(t.Context()); err == nil {
		t.Error("it is taken")
	}
	t.Setenv("SOURCE_DATE_EPOCH", "")
	if when, err := commitTime(t.Context()); err != nil || when.Year() < 2020 {
		t.Errorf("%v %v", when, err)
	}
}
