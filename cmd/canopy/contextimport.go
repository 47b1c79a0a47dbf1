package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"canopy/internal/access"
	"canopy/internal/client"
	"canopy/internal/extract"
)

func contextImportCommand(m *Main, flags *flag.FlagSet) func(context.Context, []string) error {
	id := flags.Int64("context", 0, "id of the context")
	server := flags.String("url", "", "the platform's address (default that of .data/dev.json)")
	file := flags.String("credentials", filepath.Join(".data", "dev.json"), "file with url, clientId and clientSecret")
	wait := flags.Bool("wait", false, "wait until the context's documents are processed, and tell which failed")
	return func(ctx context.Context, args []string) error {
		if *id <= 0 || len(args) == 0 {
			return usagef("--context and at least one file or folder are needed")
		}
		c, err := importClient(m, *server, *file)
		if err != nil {
			return err
		}
		i := &importer{m: m, c: c, context: *id}
		err = i.run(ctx, args)
		if *wait && ctx.Err() == nil && i.have != nil {
			err = errors.Join(err, i.wait(ctx))
		}
		return err
	}
}

// importClient has the key of the environment, CANOPY_CLIENT_ID and CANOPY_CLIENT_SECRET, otherwise that
// of the file.
func importClient(m *Main, server, file string) (*client.Client, error) {
	c := &client.Client{URL: server, App: access.Assistant.String(), Key: client.Key{ClientID: m.Getenv("CANOPY_CLIENT_ID"), ClientSecret: m.Getenv("CANOPY_CLIENT_SECRET")}}
	if c.URL == "" || c.ClientID == "" {
		url, key, err := client.ReadKeyFile(file)
		if err != nil {
			return nil, fmt.Errorf("CANOPY_CLIENT_ID, CANOPY_CLIENT_SECRET and --url are not all set, and the credentials' file: %w", err)
		}
		c.URL = cmp.Or(c.URL, url)
		if c.ClientID == "" {
			c.Key = key
		}
	}
	c.URL = strings.TrimRight(c.URL, "/")
	return c, nil
}

// importer uploads files to a context, leaving out what is there already.
type importer struct {
	m       *Main
	c       *client.Client
	context int64
	// have are the hashes of what the context holds.
	have map[string]bool

	uploaded, there, other int
	bytes                  int64
	failed                 []string
}

func (i *importer) run(ctx context.Context, paths []string) error {
	files, err := i.files(paths)
	if err != nil {
		return err
	}
	if err := i.look(ctx); err != nil {
		return err
	}
	var total int64
	for _, f := range files {
		total += f.size
	}
	bar := i.bar(total, true)
	for _, f := range files {
		bar.Describe(shorten(filepath.Base(f.path)))
		if err := i.upload(ctx, f, bar); err != nil {
			if ctx.Err() != nil {
				return errors.New("interrupted; the same command goes on where it stopped")
			}
			i.failed = append(i.failed, f.path+": "+oneLine(err))
		}
	}
	_ = bar.Finish()
	return i.summary()
}

// look notes the hashes of what the context holds.
func (i *importer) look(ctx context.Context) error {
	var list []struct{ ContentHash string }
	err := i.c.Call(ctx, http.MethodGet, fmt.Sprintf("/context/documents/%d", i.context), nil, &list)
	i.have = make(map[string]bool, len(list))
	for _, d := range list {
		i.have[d.ContentHash] = true
	}
	return err
}

// importFile is a file to upload.
type importFile struct {
	path string
	size int64
}

// files lists the files below the paths whose extension can be uploaded, in order.
func (i *importer) files(paths []string) (list []importFile, err error) {
	for _, path := range paths {
		err := filepath.WalkDir(path, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if hidden := strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 1 && d.Name() != ".."; hidden && d.IsDir() {
				return fs.SkipDir
			} else if hidden || !d.Type().IsRegular() {
				return nil
			}
			if _, err := extract.FormatOf(d.Name()); err != nil {
				i.other++
				return nil
			}
			info, err := d.Info()
			list = append(list, importFile{path, info.Size()})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(list, func(a, b importFile) int { return strings.Compare(a.path, b.path) })
	return list, nil
}

// bar shows the progress, in bytes or in a share, on a terminal only.
func (i *importer) bar(total int64, bytes bool) *progressbar.ProgressBar {
	out := io.Discard
	if f, ok := i.m.Stderr.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		out = f
	}
	options := []progressbar.Option{progressbar.OptionSetWriter(out), progressbar.OptionSetWidth(24), progressbar.OptionClearOnFinish()}
	if bytes {
		options = append(options, progressbar.OptionShowBytes(true), progressbar.OptionShowCount())
	}
	return progressbar.NewOptions64(total, options...)
}

// shorten makes a name fit beside the bar.
func shorten(name string) string {
	const width = 28
	r := []rune(name)
	if len(r) > width {
		r = append(r[:width-1], '…')
	}
	return fmt.Sprintf("%-*s", width, string(r))
}

// upload uploads one file, unless the context holds its bytes already.
func (i *importer) upload(ctx context.Context, f importFile, bar *progressbar.ProgressBar) error {
	file, err := os.Open(f.path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return err
	}
	sum := hex.EncodeToString(hash.Sum(nil))
	if i.have[sum] {
		i.there++
		return bar.Add64(f.size)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	read := &counted{Reader: file}
	err = i.c.Upload(ctx, i.context, filepath.Base(f.path), io.TeeReader(read, bar))
	if err != nil {
		return errors.Join(err, bar.Add64(f.size-read.n))
	}
	i.have[sum] = true
	i.uploaded++
	i.bytes += f.size
	return nil
}

// counted counts what is read.
type counted struct {
	io.Reader
	n int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

func (i *importer) summary() error {
	_, _ = fmt.Fprintf(i.m.Stdout, "%d uploaded (%.1f MiB), %d there already, %d of other types left out, %d failed\n",
		i.uploaded, float64(i.bytes)/(1<<20), i.there, i.other, len(i.failed))
	for _, line := range i.failed {
		_, _ = fmt.Fprintln(i.m.Stdout, "  "+line)
	}
	if len(i.failed) > 0 {
		return fmt.Errorf("%d files were not uploaded; the same command tries them again", len(i.failed))
	}
	return nil
}
