// Command gen writes the generated half of the graph: gqlgen, told to resolve in order.
//
// gqlgen starts a goroutine for each element of a list and for each field with a resolver. Here
// the rows of a list load their edges together, so nothing is won by that and half the speed is
// lost.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/99designs/gqlgen/api"
	"github.com/99designs/gqlgen/codegen"
	"github.com/99designs/gqlgen/codegen/config"
	"golang.org/x/tools/imports"
)

func main() {
	if err := generate(); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func generate() error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	if err := os.Chdir(root); err != nil {
		return err
	}
	cfg, err := config.LoadConfig("gqlgen.yml")
	if err != nil {
		return err
	}
	if err := api.Generate(cfg, api.AddPlugin(inOrder{})); err != nil {
		return err
	}
	return patch(cfg.Exec.Filename)
}

func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, statErr := os.Stat(filepath.Join(dir, "gqlgen.yml")); statErr == nil {
			return dir, nil
		}
		if filepath.Dir(dir) == dir {
			return "", fmt.Errorf("no gqlgen.yml above the working folder")
		}
		dir = filepath.Dir(dir)
	}
	return "", err
}

// inOrder takes the goroutines from the fields.
type inOrder struct{}

func (inOrder) Name() string { return "inorder" }

func (inOrder) GenerateCode(data *codegen.Data) error {
	for _, o := range data.Objects {
		o.DisableConcurrency = true
	}
	return nil
}

// patch takes the goroutines from the lists: gqlgen has no setting for that.
func patch(file string) error {
	code, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	from, to := []byte("graphql.MarshalSliceConcurrently(ctx, len(v), 0, false, "), []byte("inorder.MarshalSlice(ctx, len(v), ")
	if !bytes.Contains(code, from) {
		return fmt.Errorf("%s: no lists to resolve in order: has gqlgen changed?", file)
	}
	code = bytes.ReplaceAll(code, from, to)
	code = bytes.Replace(code, []byte("import (\n"), []byte("import (\n\t\"canopy/graph/inorder\"\n"), 1)
	imports.LocalPrefix = "canopy"
	code, err = imports.Process(file, code, nil)
	if err != nil {
		return err
	}
	return os.WriteFile(file, code, 0o600)
}
