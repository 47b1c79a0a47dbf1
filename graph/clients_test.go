package graph

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"canopy/graph/generated"
)

// npmProject is a folder with packages from npm and files; these tests need Node.js, npm and a
// package registry, and so run only when they are asked for.
func npmProject(t *testing.T, packages []string, files map[string]string) (dir string) {
	t.Helper()
	if os.Getenv("CANOPY_CLIENTS") != "1" {
		t.Skip("set CANOPY_CLIENTS=1 to try real clients (needs Node.js and npm)")
	}
	dir = t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(t, dir, "npm", append([]string{"install", "--no-audit", "--no-fund", "--loglevel", "error"}, packages...)...)
	return dir
}

func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// The audits of the GraphQL-over-HTTP draft, by its reference implementation.
func TestHTTPAuditsClients(t *testing.T) {
	dir := npmProject(t, []string{"graphql-http@1.23.1", "graphql@16"}, map[string]string{
		"package.json": `{"private":true,"type":"module"}`,
		"audit.js": `import { auditServer } from 'graphql-http';
const results = await auditServer({ url: process.argv[2] });
for (const r of results) if (r.status !== 'ok') console.log(r.status, r.id, r.name, r.reason);
console.log(results.filter((r) => r.status === 'ok').length + ' of ' + results.length);
`,
	})
	server := httptest.NewServer(newTestDoor(t, nil))
	defer server.Close()
	out := run(t, dir, "node", "audit.js", server.URL+"/graphql")
	if !strings.HasSuffix(out, "61 of 61\n") {
		t.Errorf("the audits say:\n%s", out)
	}
}

func TestRelayCompilerClients(t *testing.T) {
	dir := npmProject(t, []string{"relay-compiler@20", "graphql@16"}, map[string]string{
		"package.json":      `{"private":true}`,
		"relay.config.json": `{"src":"./src","language":"typescript","schema":"./schema.graphql","eagerEsModules":true}`,
		"schema.graphql":    generated.SDL(),
		"src/tree.ts": "import { graphql } from 'relay-runtime';\n" +
			"export const q = graphql`query treeQuery($n: Int) { customer { id ...tree_customer @arguments(n: $n) } }`;\n" +
			"export const f = graphql`fragment tree_customer on Customer @refetchable(queryName: \"treeMore\") @argumentDefinitions(n: {type: \"Int\"}, after: {type: \"String\"}) {\n" +
			"  children(first: $n, after: $after) @connection(key: \"tree_children\") { edges { node { id name } } } }`;\n",
	})
	run(t, dir, "npx", "--no-install", "relay-compiler")
	if _, err := os.Stat(filepath.Join(dir, "src", "__generated__", "treeQuery.graphql.ts")); err != nil {
		t.Error(err)
	}
}

func TestCodegenClients(t *testing.T) {
	dir := npmProject(t, []string{"@graphql-codegen/cli@7", "@graphql-codegen/client-preset@6", "graphql@16", "typescript@5"}, map[string]string{
		"package.json":   `{"private":true,"overrides":{"@graphql-tools/batch-execute":"10.2.0"}}`,
		"schema.graphql": generated.SDL(),
		"codegen.yml":    "schema: schema.graphql\ndocuments: src/*.ts\ngenerates:\n  src/gql/:\n    preset: client\n",
		"src/tree.ts":    "import { graphql } from './gql';\nexport const q = graphql(`query tree { customer { id children(first: 3) { nodes { name } } } }`);\n",
	})
	run(t, dir, "npx", "--no-install", "graphql-codegen", "--config", "codegen.yml")
	run(t, dir, "npx", "--no-install", "tsc", "--noEmit", "--strict", "--moduleResolution", "bundler", "--module", "esnext", "--skipLibCheck", "src/tree.ts")
}
