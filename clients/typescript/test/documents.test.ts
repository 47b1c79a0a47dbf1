import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { operationOf } from "../dist/documents.js";

const folder = mkdtempSync(join(tmpdir(), "documents-"));
after(() => rmSync(folder, { recursive: true }));
const file = join(folder, "x.graphql");

function documents(text: string, ...options: string[]): string {
  writeFileSync(file, text);
  execFileSync(process.execPath, ["dist/tools/main.js", ...options, file], { stdio: "pipe" });
  return readFileSync(join(folder, "x.gql.ts"), "utf8");
}

test("canopy-documents names what is wrong, and what is stale", () => {
  const good = documents("query Me { me { email } }");
  assert.match(good, /export type MeResult = {\n  me: {\n    email: string;\n  };\n};/);
  assert.equal(documents("query Me { me { email } }", "--check"), good);
  assert.throws(() => documents("query Me { me { customerId } }", "--check"), /x\.gql\.ts is stale/);
  assert.throws(() => documents("query Me { me { mail } }"), /Cannot query field "mail" on type "Me"/);
  assert.throws(() => documents("{ me { email } }"), /has a name/);
});

test("types follow lists, nulls, enums, unions of fragments and variables", () => {
  const text = documents(`query All($run: String!, $ids: [ID!], $order: [CustomerOrder!] = []) {
    run(jobKey: $run) { status output steps { stepId } }
    customer { children(filter: {ids: $ids}, orderBy: $order) { nodes { users { nodes { lastAccess } } ... { name } } } }
  }`, "--client", "elsewhere");
  for (const line of [
    'import { document, type Schema } from "elsewhere";', "  run: string;", "  ids?: ReadonlyArray<string | number> | null | undefined;",
    "  order?: ReadonlyArray<Schema.CustomerOrder> | null | undefined;", "    status: Schema.RunStatus;", "    output: Schema.JSON | null;", "    steps: Array<{",
    "  } | null;", "            lastAccess: Schema.DateTime | null;", "        name: string;",
  ]) assert.ok(text.includes(line), `${line} is not in\n${text}`);
});

test("what an operation does is known from its text", () => {
  for (const [text, want] of [
    ["{ me { email } }", "query"], ["query mutation { me { email } }", "query"], ["mutation M { leave }", "mutation"],
    ['fragment mutation on User { name(a: "} mutation") } mutation M { a }', "mutation"], ["# mutation\nsubscription { a }", "subscription"],
    ["fragment f on User { mutation { a } } query { a }", "query"], ['query Q($a: String = "{") { a } ', "query"],
  ] as const) assert.equal(operationOf(text), want, text);
});
