// Package importer uploads folders of documents to a context, and goes on where it was interrupted.
package importer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
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

	canopy "canopy/clients/go"
	"canopy/internal/extract"
)

// Importer uploads files to a context, leaving out what is there already. It serves one Run.
type Importer struct {
	Client *canopy.Client
	// Context is the context's id.
	Context int64
	// Wait has Run wait until the context's documents are processed, and tell which failed.
	Wait bool
	// JSON, unless it is nil, is told what came of all of it, in place of Out.
	JSON func(v any) error
	// Out is told what came of it, Progress, if it is a terminal, how far it is.
	Out, Progress io.Writer

	// have are the hashes of what the context holds.
	have map[string]bool

	uploaded, there, other int
	bytes                  int64
	failed                 []string
	processed              *processed
}

// Run uploads the files below the paths whose types can be uploaded. Its error tells how many were not.
func (i *Importer) Run(ctx context.Context, paths []string) error {
	err := i.upload(ctx, paths)
	if i.Wait && ctx.Err() == nil && i.have != nil {
		err = errors.Join(err, i.wait(ctx))
	}
	if i.JSON != nil && i.have != nil {
		err = errors.Join(err, i.JSON(struct {
			Uploaded int      `json:"uploaded"`
			Bytes    int64    `json:"bytes"`
			There    int      `json:"there"`
			Other    int      `json:"otherTypes"`
			Failed   []string `json:"failed"`
			// Documents are those of the context, once they were waited for.
			Documents *processed `json:"documents,omitempty"`
		}{i.uploaded, i.bytes, i.there, i.other, append([]string{}, i.failed...), i.processed}))
	}
	return err
}

func (i *Importer) upload(ctx context.Context, paths []string) error {
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
		if err := i.uploadFile(ctx, f, bar); err != nil {
			if ctx.Err() != nil {
				return errors.New("interrupted; the same command goes on where it stopped")
			}
			i.failed = append(i.failed, f.path+": "+strings.ReplaceAll(err.Error(), "\n", "; "))
		}
	}
	_ = bar.Finish()
	return i.summary()
}

// look notes the hashes of what the context holds.
func (i *Importer) look(ctx context.Context) error {
	var list []struct{ ContentHash string }
	err := i.Client.Call(ctx, http.MethodGet, fmt.Sprintf("/context/documents/%d", i.Context), nil, &list)
	i.have = make(map[string]bool, len(list))
	for _, d := range list {
		i.have[d.ContentHash] = true
	}
	return err
}

// file is a file to upload.
type file struct {
	path string
	size int64
}

// files lists the files below the paths whose extension can be uploaded, in order.
func (i *Importer) files(paths []string) (list []file, err error) {
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
			list = append(list, file{path, info.Size()})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(list, func(a, b file) int { return strings.Compare(a.path, b.path) })
	return list, nil
}

// bar shows the progress, in bytes or in a share, on a terminal only.
func (i *Importer) bar(total int64, bytes bool) *progressbar.ProgressBar {
	return NewBar(i.Progress, total, bytes)
}

// NewBar shows the progress on a terminal, and nowhere else.
func NewBar(progress io.Writer, total int64, bytes bool) *progressbar.ProgressBar {
	out := io.Discard
	if f, ok := progress.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
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
func (i *Importer) uploadFile(ctx context.Context, f file, bar *progressbar.ProgressBar) error {
	content, err := os.Open(f.path)
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }()
	hash := sha256.New()
	if _, err := io.Copy(hash, content); err != nil {
		return err
	}
	sum := hex.EncodeToString(hash.Sum(nil))
	if i.have[sum] {
		i.there++
		return bar.Add64(f.size)
	}
	if _, err := content.Seek(0, io.SeekStart); err != nil {
		return err
	}
	read := &counted{Reader: content}
	err = i.Client.Upload(ctx, i.Context, filepath.Base(f.path), io.TeeReader(read, bar))
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

func (i *Importer) summary() error {
	if i.JSON == nil {
		i.summarise()
	}
	if len(i.failed) > 0 {
		return fmt.Errorf("%d files were not uploaded; the same command tries them again", len(i.failed))
	}
	return nil
}

func (i *Importer) summarise() {
	_, _ = fmt.Fprintf(i.Out, "%d uploaded (%.1f MiB), %d there already, %d of other types left out, %d failed\n",
		i.uploaded, float64(i.bytes)/(1<<20), i.there, i.other, len(i.failed))
	for _, line := range i.failed {
		_, _ = fmt.Fprintln(i.Out, "  "+line)
	}
}
