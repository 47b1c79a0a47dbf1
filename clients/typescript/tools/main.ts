#!/usr/bin/env node
// canopy-documents writes the types of GraphQL documents: for operations.graphql the file operations.gql.ts.
import { readFileSync, writeFileSync } from "node:fs";
import { Source } from "graphql";
import { parseArgs } from "node:util";
import { generate, readSchema } from "./generate.js";

const usage = `usage: canopy-documents [--check] [--client NAME] FILE.graphql…

Writes FILE.gql.ts beside each file: every operation as a typed document, every fragment as a type.

  --check        write nothing, and fail where a file is not as it would be written
  --client NAME  what the client is imported from; canopy-client by default`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { check: { type: "boolean" }, client: { type: "string", default: "canopy-client" }, help: { type: "boolean" } },
});
if (values.help || positionals.length === 0) {
  (values.help ? console.log : console.error)(usage);
  process.exit(values.help ? 0 : 2);
}
try {
  const schema = readSchema(readFileSync(new URL("../schema.graphql", import.meta.url), "utf8"));
  for (const file of positionals) {
    const text = generate(schema, new Source(readFileSync(file, "utf8"), file), values.client);
    const to = `${file.replace(/\.graphql$/, "")}.gql.ts`;
    if (!values.check) writeFileSync(to, text);
    else if (readFileSync(to, "utf8") !== text) throw new Error(`${to} is stale: run canopy-documents ${file}`);
  }
} catch (error) {
  console.error(`canopy-documents: ${error instanceof Error ? error.message : error}`);
  process.exit(1);
}
