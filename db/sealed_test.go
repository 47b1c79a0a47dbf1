package db_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"canopy/db"
	"canopy/internal/devstack/devtest"
)

// notSealed are the columns of bytes that are not sealed, and why.
var notSealed = map[string]string{
	"api_key_secrets.hash":       "a hash",
	"email_changes.agree_hash":   "a hash",
	"email_changes.confirm_hash": "a hash",
	"email_changes.stop_hash":    "a hash",
	"link_tokens.hash":           "a hash",
	"recovery_codes.hash":        "a hash",
	"used_states.hash":           "a hash",
	"passkeys.credential_id":     "a name",
	"passkeys.public_key":        "what everybody may know",
	"scim_tokens.hash":           "a hash",
	"customer_imports.archive":   "the hash of a file",
	"import_requests.archive":    "the same",
	"chunks.sparse":              "the vector of a text that is open, too",
	"chunks.dense":               "the same",
	"chunks.places":              "pages, headings and rows of a text that is open, too",
	"vector_blocks.chunks":       "the ids of chunks whose texts are open",
	"vector_blocks.block":        "the vectors of texts that are open, too",
	"webhook_deliveries.payload": "the bytes of an event, which the log shows",
}

// TestSealedColumnsAreDeclared: each column of bytes is either sealed, and a new secret key reaches it, or open
// for a reason.
func TestSealedColumnsAreDeclared(t *testing.T) {
	pool, err := db.Connect(devtest.Database(t, db.Fingerprint(), db.Migrate), db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	var columns []string
	if err := pool.Select(&columns, `SELECT table_name || '.' || column_name FROM information_schema.columns
		WHERE table_schema = 'public' AND data_type = 'bytea'`); err != nil {
		t.Fatal(err)
	}
	sealed := db.SealedColumns()
	for _, c := range columns {
		if isSealed := slices.Contains(sealed, c); isSealed == (notSealed[c] != "") {
			t.Errorf("%s: sealed is %v, open is %q", c, isSealed, notSealed[c])
		}
	}
	for _, c := range sealed {
		if !slices.Contains(columns, c) {
			t.Errorf("%s is no column of bytes", c)
		}
	}
	// A next secret becomes the one in force between two steps of a walk.
	if slices.Index(sealed, "webhook_destinations.next_secret") > slices.Index(sealed, "webhook_destinations.secret") {
		t.Error("the secret in force is sealed anew before the one that takes its place")
	}
}

// TestNothingIsSealedElsewhere reads the code: boxes are used by the declared columns alone.
func TestNothingIsSealedElsewhere(t *testing.T) {
	seen := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
			strings.HasPrefix(path, "../internal/secret/") || strings.HasPrefix(path, "../e2e/") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !usesBox(call) {
				return true
			}
			seen++
			if path != "../db/sealed.go" {
				t.Errorf("%s seals or opens past the columns of db/sealed.go", files.Position(call.Pos()))
			}
			return true
		})
		return nil
	})
	if err != nil || seen < 3 {
		t.Errorf("%d uses of a box: %v", seen, err)
	}
}

// usesBox tells whether a call is of a method of something named box.
func usesBox(call *ast.CallExpr) bool {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !slices.Contains([]string{"Seal", "Open", "Renew"}, method.Sel.Name) {
		return false
	}
	switch of := method.X.(type) {
	case *ast.Ident:
		return strings.EqualFold(of.Name, "box")
	case *ast.SelectorExpr:
		return strings.EqualFold(of.Sel.Name, "box")
	}
	return false
}
