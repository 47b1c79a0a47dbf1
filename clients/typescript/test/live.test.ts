import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { type Canopy, CanopyError } from "../dist/index.js";
import * as doc from "./operations.gql.js";
import { asked, cut, login, other, person, program, weather } from "./platform.js";

afterEach(() => weather());

/** Changes something until an event tells of it. */
async function nextEvent(canopy: Canopy, events: AsyncGenerator<doc.AuditResult>): Promise<doc.AuditResult> {
  let heard = false;
  const next = events.next().finally(() => (heard = true));
  for (let i = 0; !heard; i++) {
    await canopy.request(doc.Rename, { input: { customerId: other, name: i % 2 ? "Alpine Hydro" : "Alpine Hydro Ltd" } });
    await Promise.race([next.catch(() => {}), new Promise((done) => setTimeout(done, 100))]);
  }
  const { value } = await next;
  assert.ok(value);
  return value;
}

/** Hears events until their end. */
async function all(events: AsyncGenerator<unknown>): Promise<void> {
  for await (const _ of events);
}

test("a subscription goes on while tokens run out and are renewed", { timeout: 60_000 }, async () => {
  const driver = program("tenant");
  await driver.request(doc.Me);
  for (const key of [true, false]) {
    await weather({ life: "2s" });
    const { session, canopy } = key ? { session: undefined, canopy: program("tenant") } : login();
    await session?.signIn(person);
    let connections = 0;
    const ended = new AbortController();
    const events = canopy.subscribe(doc.Audit, {}, { signal: ended.signal, onConnected: () => connections++ });
    assert.equal((await nextEvent(driver, events)).auditEvent.action, "customer.updated");
    while (connections < 3) await nextEvent(driver, events);
    assert.ok((await asked(key ? "/connect/token" : "/auth/session/refresh")) >= 2);
    ended.abort();
    await assert.rejects(events.next(), { name: "AbortError" });
  }
});

test("a subscription comes back when its connection was lost, and as another company when that was switched", { timeout: 60_000 }, async () => {
  const driver = program("tenant");
  const { session, canopy } = login();
  await session.signIn(person);
  let connections = 0;
  const events = canopy.subscribe(doc.Audit, {}, { onConnected: () => connections++ });
  await nextEvent(driver, events);
  await cut();
  while (connections < 2) await nextEvent(driver, events);
  await session.switchTo(other); // where the person may not read the audit log
  await assert.rejects(all(events), (error: CanopyError) => error.code === "FORBIDDEN");
  assert.equal(connections, 3);
});

test("what is listened to once ends with its connection, but not with a token", { timeout: 60_000 }, async () => {
  const driver = program("tenant");
  await weather({ life: "2s" });
  let connections = 0;
  const renewed = program("tenant").subscribe(doc.Audit, {}, { once: true, onConnected: () => connections++ });
  while (connections < 2) await nextEvent(driver, renewed);
  await renewed.return();
  await weather();
  const events = program("tenant").subscribe(doc.Audit, {}, { once: true });
  await nextEvent(driver, events);
  await cut();
  await assert.rejects(all(events), (error: CanopyError) => error.code === "UNREACHABLE");
});

test("what a look finds comes after each connection and once more, before the events that come meanwhile", { timeout: 60_000 }, async () => {
  const driver = program("tenant");
  const canopy = program("tenant");
  const rename = (name: string) => driver.request(doc.Rename, { input: { customerId: other, name } });
  let looks = 0;
  const look = async (): Promise<doc.AuditResult> => {
    const found = { auditEvent: { action: `look ${++looks}`, objectId: 0 } };
    await new Promise((done) => setTimeout(done, 500)); // so that the subscription has begun
    await rename(`Alpine Hydro ${looks}`);
    await new Promise((done) => setTimeout(done, 500));
    return found;
  };
  const events = canopy.subscribe(doc.Audit, {}, { look });
  const next = async () => (await events.next()).value?.auditEvent.action;
  assert.deepEqual([await next(), await next()], ["look 1", "customer.updated"]);
  const second = canopy.subscribe(doc.Audit, {}, { look }); // on the connection that there is
  assert.equal((await second.next()).value?.auditEvent.action, "look 2");
  await second.return();
  assert.equal(await next(), "customer.updated");
  await cut();
  assert.deepEqual([await next(), await next()], ["look 3", "customer.updated"]);
  await rename("Alpine Hydro");
  assert.deepEqual([await next(), await next(), await next()], ["customer.updated", "look 4", "customer.updated"]);
  await events.return();
});

test("a subscription ends with the session", { timeout: 60_000 }, async () => {
  const driver = program("tenant");
  for (const how of ["signed out", "ended elsewhere"]) {
    const { session, canopy } = login();
    await session.signIn(person);
    const events = canopy.subscribe(doc.Audit);
    await nextEvent(driver, events);
    const end = assert.rejects(all(events), (error: CanopyError) => error.reason === "session_ended", how);
    if (how === "signed out") await session.signOut();
    else {
      const elsewhere = login();
      await elsewhere.session.signIn(person);
      await elsewhere.canopy.request(doc.EndSessions, { input: {} });
    }
    await end;
  }
});

test("what may not be listened to is an error", async () => {
  const events = program("builder").subscribe(doc.Audit);
  await assert.rejects(events.next(), (error: CanopyError) => error.code === "FORBIDDEN");
  await assert.rejects(program("tenant").subscribe("subscription { nothing }").next(), (error: CanopyError) => error.code === "BAD_REQUEST");
});

test("an upload tells how far it is", async () => {
  const canopy = program("assistant");
  const made = await canopy.request(doc.CreateContext, { input: { name: "Uploads", description: "Answer.", caption: "Rules", starterPrompts: [] } });
  const contextId = made.createContext!.context.databaseId;
  const text = "Holidays are thirty days a year. ".repeat(40_000);
  const told: number[] = [];
  const file = new File([text], "rules.txt");
  const { uploadDocument } = await canopy.upload(doc.Upload, { input: { contextId, file } }, { onProgress: ({ sent, total }) => told.push(sent / total) });
  assert.deepEqual([uploadDocument?.document.displayName, uploadDocument?.document.size], ["rules.txt", text.length]);
  assert.ok(told.length > 2 && told.every((part, i) => part >= (told[i - 1] ?? 0)) && told.at(-1) === 1, String(told));

  await weather({ lost: "/graphql" });
  await assert.rejects(canopy.upload(doc.Upload, { input: { contextId, file } }), (error: CanopyError) => error.code === "UNREACHABLE");
  assert.equal(await asked("/graphql"), 1);
  const stop = new AbortController();
  const stopped = canopy.upload(doc.Upload, { input: { contextId, file } }, { signal: stop.signal, onProgress: () => stop.abort() });
  await assert.rejects(stopped, { name: "AbortError" });
  assert.equal((await canopy.request(doc.Documents, { id: contextId })).context?.documents.totalCount, 2);
});
