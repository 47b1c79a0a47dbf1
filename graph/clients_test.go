package graph

import (
	"io/fs"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"canopy/graph/generated"
	"canopy/internal/devstack/npmtest"
)

// files are files by their names.
func files(contents map[string]string) fs.FS {
	all := fstest.MapFS{}
	for name, text := range contents {
		all[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o600}
	}
	return all
}

// The audits of the GraphQL-over-HTTP draft, by its reference implementation.
func TestHTTPAuditsClients(t *testing.T) {
	project := npmtest.New(t, files(map[string]string{
		"package.json": `{"private":true,"type":"module"}`,
		"audit.js": `import { auditServer } from 'graphql-http';
const results = await auditServer({ url: process.argv[2] });
for (const r of results) if (r.status !== 'ok') console.log(r.status, r.id, r.name, r.reason);
console.log(results.filter((r) => r.status === 'ok').length + ' of ' + results.length);
`,
	}), "graphql-http@1.23.1", "graphql@16")
	server := httptest.NewServer(newTestDoor(t, nil))
	defer server.Close()
	out := project.Run("node", "audit.js", server.URL+"/graphql")
	if !strings.HasSuffix(out, "61 of 61\n") {
		t.Errorf("the audits say:\n%s", out)
	}
}

func TestRelayCompilerClients(t *testing.T) {
	project := npmtest.New(t, files(map[string]string{
		"package.json":      `{"private":true}`,
		"relay.config.json": `{"src":"./src","language":"typescript","schema":"./schema.graphql","eagerEsModules":true}`,
		"schema.graphql":    generated.SDL(),
		"src/tree.ts": "import { graphql } from 'relay-runtime';\n" +
			"export const q = graphql`query treeQuery($n: Int) { customer { id ...tree_customer @arguments(n: $n) } }`;\n" +
			"export const f = graphql`fragment tree_customer on Customer @refetchable(queryName: \"treeMore\") @argumentDefinitions(n: {type: \"Int\"}, after: {type: \"String\"}) {\n" +
			"  children(first: $n, after: $after) @connection(key: \"tree_children\") { edges { node { id name } } } }`;\n",
	}), "relay-compiler@20", "graphql@16")
	project.Run("npx", "--no-install", "relay-compiler")
	if _, err := fs.Stat(project.Files(), "src/__generated__/treeQuery.graphql.ts"); err != nil {
		t.Error(err)
	}
}

func TestCodegenClients(t *testing.T) {
	project := npmtest.New(t, files(map[string]string{
		"package.json":   `{"private":true,"overrides":{"@graphql-tools/batch-execute":"10.2.0"}}`,
		"schema.graphql": generated.SDL(),
		"codegen.yml":    "schema: schema.graphql\ndocuments: src/*.ts\ngenerates:\n  src/gql/:\n    preset: client\n",
		"src/tree.ts":    "import { graphql } from './gql';\nexport const q = graphql(`query tree { customer { id children(first: 3) { nodes { name } } } }`);\n",
	}), "@graphql-codegen/cli@7", "@graphql-codegen/client-preset@6", "graphql@16", "typescript@5")
	project.Run("npx", "--no-install", "graphql-codegen", "--config", "codegen.yml")
	project.Run("npx", "--no-install", "tsc", "--noEmit", "--strict", "--moduleResolution", "bundler", "--module", "esnext", "--skipLibCheck", "src/tree.ts")
}
