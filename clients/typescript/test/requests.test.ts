import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { Canopy, CanopyError, GivenToken } from "../dist/index.js";
import * as doc from "./operations.gql.js";
import { asked, other, own, program, url, weather } from "./platform.js";

afterEach(() => weather());

const is = (code: string, reason?: string) => (error: unknown) => error instanceof CanopyError && error.code === code && error.reason === reason;

test("a typed document gives a typed result", async () => {
  const canopy = program("tenant");
  const { customer } = await canopy.request(doc.Company, { id: own });
  const name: string | undefined = customer?.name;
  assert.equal(name, "Alpine Energy");
  assert.equal((await canopy.request(doc.Company)).customer?.name, "Northwind Group");
  // @ts-expect-error the document does not select it
  assert.equal(customer?.path, undefined);
  // @ts-expect-error Companies needs an id
  await assert.rejects(canopy.request(doc.Companies), is("BAD_REQUEST"));
});

test("what a fragment selects depends on the type", async () => {
  const canopy = program("tenant");
  const { customer } = await canopy.request<{ customer: { id: string } }>("query($id: ID) { customer(id: $id) { id } }", { id: own });
  const { node } = await canopy.request(doc.Anything, { id: customer.id, more: true });
  assert.equal(node?.__typename, "Customer");
  if (node?.__typename !== "Customer") return;
  const parent: { name: string } | null | undefined = node.parent;
  assert.deepEqual([node.name, parent?.name], ["Alpine Energy", "Northwind Group"]);
  assert.equal((await canopy.request(doc.Anything, { id: customer.id })).node?.id, customer.id);
});

test("a page goes on with the tokens that it is given", async () => {
  let ended = 0;
  const given = new GivenToken({ url, token: "worn.out", onEnd: () => ended++ });
  const canopy = new Canopy(given);
  await assert.rejects(canopy.request(doc.Me), is("UNAUTHENTICATED"));
  await assert.rejects(canopy.request(doc.Me), is("UNAUTHENTICATED"));
  assert.deepEqual([ended, await asked("/graphql")], [1, 1]);
  given.give(await program("tenant").credentials.token());
  assert.ok((await canopy.request(doc.Me)).me.customerId > 0);
});

test("all rows of a list come, a page at a time", async () => {
  const canopy = program("tenant");
  const names: string[] = [];
  for await (const company of canopy.each(doc.Companies, { id: 1 }, ({ customer }) => customer?.descendants)) names.push(company.name);
  const { customer } = await canopy.request(doc.Companies, { id: 1 });
  assert.equal(names.length, customer?.descendants.totalCount);
  assert.equal(new Set(names).size, names.length);
  assert.ok(names.length > 4 && (await asked("/graphql")) > 2);
});

test("REST is asked with the same token", async () => {
  const canopy = program("tenant");
  const answer = await canopy.fetch("/tenant/customers?limit=2");
  assert.equal(((await answer.json()) as unknown[]).length, 2);
  assert.match(answer.headers.get("Link") ?? "", /rel="next"/);
  const changed = await canopy.fetch("/tenant", { method: "PUT", body: JSON.stringify({ customerId: other, name: "Alpine Hydro" }) });
  assert.equal(changed.status, 204);
});

test("a refusal tells what is wrong", async () => {
  const canopy = program("tenant");
  await assert.rejects(canopy.request("{ nothing }"), is("BAD_REQUEST"));
  await assert.rejects(canopy.request(doc.Rename, { input: { customerId: 4711, name: "" } }), (error: CanopyError) => {
    assert.deepEqual([error.code, error.status, error.path], ["BAD_REQUEST", 200, ["updateCustomer"]]);
    assert.equal(error.faults[0]?.location, "name");
    assert.ok(error.requestId && error.message && error.all.includes(error));
    return true;
  });
  await assert.rejects(canopy.fetch("/tenant/user", { method: "POST", body: '{"email": "no address"}' }), (error: CanopyError) => {
    assert.deepEqual([error.code, error.status], ["BAD_REQUEST", 400]);
    assert.equal(error.faults[0]?.location, "body.email");
    return error.requestId !== undefined;
  });
  await assert.rejects(program("tenant", "cnpy_wrong").request(doc.Me), is("UNAUTHENTICATED", "invalid_client"));
  const part = await canopy.request("{ me { email } customer(id: 4711) { name } }").catch((error: CanopyError) => error);
  assert.ok(part instanceof CanopyError && part.code === "NOT_FOUND" && (part.data as { me: { email: string } }).me.email);
});

test("what was refused for a while is asked again when the platform says", async () => {
  const canopy = program("tenant");
  await canopy.request(doc.Me);
  for (const status of [429, 503]) {
    await weather({ refused: "/graphql", times: 2, status, seconds: 1 });
    const began = performance.now();
    await canopy.request(doc.Me);
    assert.ok(performance.now() - began >= 2000, `${status}`);
    assert.equal(await asked("/graphql"), 3);
  }
  await weather({ refused: "/graphql", times: 1, status: 429, seconds: 3600 });
  await assert.rejects(canopy.request(doc.Me), (error: CanopyError) => error.code === "RATE_LIMITED" && error.retryAfter === 3600);
  await weather({ refused: "/graphql", times: 9, status: 503, seconds: 0 });
  await assert.rejects(canopy.request(doc.Me), is("UNAVAILABLE"));
  assert.equal(await asked("/graphql"), 5);
});

test("a change whose answer was lost is asked for again, and done once", async () => {
  const canopy = program("builder");
  const before = (await canopy.request(doc.Agents)).agents.totalCount;
  await weather({ lost: "/graphql" });
  const made = await canopy.request(doc.CreateAgent, { input: { name: "Once", diagram: { steps: [], output: {} } } });
  assert.equal(made.createAgent?.agent?.name, "Once");
  assert.equal(await asked("/graphql"), 2);
  await weather({ lost: "/v1/agents" });
  const answer = await canopy.fetch("/v1/agents", { method: "POST", body: JSON.stringify({ name: "Once by REST" }) });
  assert.equal(answer.headers.get("Idempotency-Replayed"), "true");
  assert.equal(await asked("/v1/agents"), 2);
  const after = (await canopy.request(doc.Agents)).agents;
  assert.equal(after.totalCount, before + 2, JSON.stringify(after));
});

test("a key of one's own makes two calls one change", async () => {
  const canopy = program("builder");
  const create = (name: string) => canopy.request(doc.CreateAgent, { input: { name } }, { idempotencyKey: "the-same-key" });
  const [first, second] = [await create("Twice"), await create("Twice")];
  assert.equal(first.createAgent?.agent?.databaseId, second.createAgent?.agent?.databaseId);
  await assert.rejects(create("Another"), is("BAD_REQUEST", "idempotency_mismatch"));
});

test("REST takes a key of one's own by its header, too, and methods in small letters", async () => {
  const canopy = program("builder");
  const create = (method: string, key: Record<string, string>) => canopy.fetch("/v1/agents", { method, body: '{"name": "Three times"}', headers: key });
  const replayed = async (answer: Promise<Response>) => (await answer).headers.get("Idempotency-Replayed");
  assert.deepEqual([await replayed(create("POST", { "idempotency-key": "mine" })), await replayed(create("post", { "Idempotency-Key": "mine" }))], [null, "true"]);
  await weather({ lost: "/v1/agents" });
  assert.equal(await replayed(create("post", {})), "true");
});

test("a request that was given up throws the reason", async () => {
  const canopy = program("tenant");
  const reason = new Error("enough");
  await assert.rejects(canopy.request(doc.Me, {}, { signal: AbortSignal.abort(reason) }), reason);
  await weather({ refused: "/graphql", times: 9, status: 503, seconds: 20 });
  const began = performance.now();
  await assert.rejects(canopy.request(doc.Me, {}, { signal: AbortSignal.timeout(200) }), { name: "TimeoutError" });
  assert.ok(performance.now() - began < 5000);
});
