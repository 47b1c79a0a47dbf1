// The client in TypeScript as pages of another port use it: signed in by the cookie, in two tabs.
import assert from "node:assert/strict";
import test from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "playwright-core";
import type * as Client from "../../../clients/typescript/dist/index.js";
import type { Canopy, CanopyError, PasskeyQuestion, Session } from "../../../clients/typescript/dist/index.js";
import { device } from "../authenticator.js";
import { openFor, setting } from "../browser.js";

const url = setting("URL");
const address = setting("PAGE");
const ada = { email: setting("EMAIL"), password: setting("PASSWORD") };

// What the page has; ended are the reasons why sessions have ended.
declare const session: Session;
declare const canopy: Canopy;
declare const ended: string[];
declare const passkeys: Pick<typeof Client, "knowsPasskeys" | "makePasskey">;

type Fault = Pick<CanopyError, "name" | "code" | "reason" | "message">;

test("pages of another port", async (t) => {
  const first = await openFor(t, [url, address], { complaints: /status of 40[14]|ERR_(EMPTY_RESPONSE|CONNECTION_REFUSED)/ });
  await load(first);
  await t.test("sign in, and keep nothing that a script can read", () => signIn(first));
  await t.test("a passkey is made, signs in alone, and stands beside the password", () => byPasskey(first));
  await t.test("an address without a company’s sign-in leads nowhere, and who was turned away hears why", () => providers(first));
  const second = await first.context().newPage();
  await load(second);
  const both = [first, second] as const;
  await t.test("a second tab is signed in, and both go on as tokens run out", () => twoTabs(...both));
  await t.test("so they do where the browser has no locks, and both renew with the same cookie", () => withoutLocks(...both));
  await t.test("a subscription goes on while tokens run out", () => subscription(second));
  await t.test("a change whose answer was lost is done once", () => lostAnswer(first));
  await t.test("an upload tells how far it is, and can be given up", () => upload(first));
  await t.test("who signs out in one tab is signed out in the other", () => signOut(...both));
});

async function signIn(page: Page): Promise<void> {
  assert.equal(await resumes(page), false);
  const fault = await page.evaluate((login) => session.signIn(login).then(() => null, ({ name, code, reason, message }: Fault) => ({ name, code, reason, message })), { ...ada, password: "not the password" });
  assert.deepEqual(fault, { name: "CanopyError", code: "UNAUTHENTICATED", reason: undefined, message: "the e-mail address or the password is wrong" });
  await page.evaluate(async (login) => void (await session.signIn(login)), ada);
  assert.deepEqual(await emails(page, 1), [ada.email]);
  assert.deepEqual(await page.evaluate(() => [document.cookie, localStorage.length]), ["", 0]);
}

async function byPasskey(page: Page): Promise<void> {
  await device(page);
  const told = await page.evaluate(async ({ email, password }) => {
    const begin = await canopy.request<{ beginPasskey: PasskeyQuestion }>("mutation($p: String!) { beginPasskey(input: { password: $p }) { state options } }", { p: password });
    const { createPasskey } = await canopy.request<{ createPasskey: { passkey: { id: string }; recoveryCodes: string[] } }>(
      "mutation($i: CreatePasskeyInput!) { createPasskey(input: $i) { passkey { id } recoveryCodes } }", { i: { ...(await passkeys.makePasskey(begin.beginPasskey)), name: "Phone" } });
    await session.signOut();
    await session.signInByPasskey();
    const me = async () => (await canopy.request<{ me: { email: string } }>("{ me { email } }")).me.email;
    const alone = await me();
    const why = await session.signIn({ email, password }).then(() => "in", ({ reason }: Fault) => reason);
    await session.signIn({ email, password, passkey: await session.passkey() });
    const beside = await me();
    await canopy.request("mutation($i: DeletePasskeyInput!) { deletePasskey(input: $i) { deletedId } }", { i: { id: createPasskey.passkey.id, password } });
    const gone = await session.signInByPasskey().then(() => "in", ({ reason }: Fault) => reason);
    return { knows: passkeys.knowsPasskeys(), codes: createPasskey.recoveryCodes.length, alone, why, beside, gone };
  }, ada);
  assert.deepEqual(told, { knows: true, codes: 10, alone: ada.email, why: "passkey_required", beside: ada.email, gone: "passkey_refused" });
}

async function providers(page: Page): Promise<void> {
  const told = await page.evaluate(async () => {
    const why = ({ reason }: Fault) => reason;
    return {
      nowhere: await session.leadToProvider({ email: "nobody@nowhere.example" }).then(() => "led", why),
      way: await session.wayIn({ email: "nobody@nowhere.example" }),
      elsewhere: await session.arrived("?x=1"),
      back: await session.arrived("?sso=in"),
      away: await session.arrived("?sso=sso_domain").then(() => "in", why),
      there: location.href,
    };
  });
  assert.deepEqual(told, { nowhere: "sso_unknown", way: "password", elsewhere: false, back: true, away: "sso_domain", there: `${address}/` });
}

async function twoTabs(first: Page, second: Page): Promise<void> {
  await weather("life=1s");
  assert.equal(await resumes(second), true);
  await renew(first);
  await weather("");
  assert.equal(await resumes(first), true);
  await renewInBoth(first, second);
}

async function withoutLocks(first: Page, second: Page): Promise<void> {
  for (const page of [first, second]) {
    assert.equal(await page.evaluate(() => Object.defineProperty(navigator, "locks", { value: undefined }).locks === undefined), true);
  }
  await weather("life=1s");
  await renew(second);
  await renew(first);
  await weather("");
  assert.equal(await resumes(first), true);
  await renewInBoth(first, second);
  await sleep(500);
  await renew(first);
  assert.equal(await resumes(first), true);
  assert.deepEqual(await first.evaluate(() => ended), []);
}

async function subscription(page: Page): Promise<void> {
  await weather("life=2s");
  await renew(page);
  const heard = await page.evaluate(async () => {
    const pause = () => new Promise((done) => setTimeout(done, 100));
    let connections = 0;
    let heard: string[] = [];
    const stop = new AbortController();
    const events = canopy.subscribe<{ auditEvent: { action: string } }>("subscription { auditEvent { action } }", {}, { signal: stop.signal, onConnected: () => connections++ });
    const listening = (async () => { for await (const { auditEvent } of events) heard.push(auditEvent.action); })().catch(() => {});
    const rename = () => canopy.request(`mutation { updateCustomer(input: { customerId: 1, name: "Northwind ${Math.random()}" }) { customer { name } } }`);
    const hear = async () => { while (heard.length === 0) { await rename(); await pause(); } };
    await hear();
    while (connections < 3) await pause();
    heard = [];
    await hear();
    stop.abort();
    await listening;
    return heard[0];
  });
  assert.equal(heard, "customer.updated");
  const renewals = await asked("/auth/session/refresh");
  assert.ok(renewals >= 2, `${renewals} renewals for three connections`);
  await weather("");
}

async function lostAnswer(page: Page): Promise<void> {
  await weather("lost=/graphql");
  const made = await page.evaluate(() => canopy.request('mutation { createAgent(input: { name: "Once" }) { agent { name } } }'));
  assert.deepEqual(made, { createAgent: { agent: { name: "Once" } } });
  assert.deepEqual(await page.evaluate(() => canopy.request("{ agents { totalCount } }")), { agents: { totalCount: 1 } });
}

async function upload(page: Page): Promise<void> {
  const { done, told, given } = await page.evaluate(async () => {
    const { createContext } = await canopy.request<{ createContext: { context: { databaseId: number } } }>('mutation { createContext(input: { name: "C", description: "d", caption: "c", starterPrompts: [] }) { context { databaseId } } }');
    const upload = "mutation($input: UploadDocumentInput!) { uploadDocument(input: $input) { document { displayName } } }";
    const file = new File(["Holidays are thirty days a year. ".repeat(300_000)], "rules.txt");
    const input = { contextId: createContext.context.databaseId, file };
    const told: number[] = [];
    const done = await canopy.upload(upload, { input }, { onProgress: ({ sent, total }) => told.push(sent / total) });
    const stop = new AbortController();
    const given = await canopy.upload(upload, { input }, { signal: stop.signal, onProgress: () => stop.abort() }).then(() => "done", (error: Error) => error.name);
    return { done, told, given };
  });
  assert.deepEqual(done, { uploadDocument: { document: { displayName: "rules.txt" } } });
  assert.equal(told.at(-1), 1);
  assert.deepEqual(told, told.toSorted((a, b) => a - b), "it goes back");
  assert.equal(given, "AbortError");
}

async function signOut(first: Page, second: Page): Promise<void> {
  await first.route("**/auth/session/sign-out", (route) => route.abort("connectionrefused"));
  const away = await first.evaluate(async () => {
    const why = ({ code, reason }: Fault) => reason ?? code;
    return [await session.signOut().then(() => "out", why), await canopy.request("{ me { email } }").then(() => "in", why)];
  });
  assert.deepEqual(away, ["UNREACHABLE", "session_ended"]);
  await first.unroute("**/auth/session/sign-out");
  await first.evaluate(() => session.signOut());
  assert.equal(await resumes(first), false);
  const fault = await second.evaluate(() => canopy.request("{ me { email } }").then(() => null, ({ name, code, reason, message }: Fault) => ({ name, code, reason, message })));
  assert.deepEqual(fault, { name: "CanopyError", code: "UNAUTHENTICATED", reason: "session_ended", message: "the session has ended, or there is none: sign in" });
  assert.deepEqual(await second.evaluate(() => ended), ["session_ended"]);
}

async function load(page: Page): Promise<void> {
  await page.goto(address);
  await page.waitForFunction(() => "canopy" in window);
}

const resumes = (page: Page) => page.evaluate(() => session.resume());

/** Gets a new token, whose life is as the weather says. */
const renew = (page: Page) => page.evaluate(async () => void (await session.switchTo(session.customerId!)));

/** Waits for the tokens of both tabs to run out, and has each ask for three things at once: each tab renews once. */
async function renewInBoth(first: Page, second: Page): Promise<void> {
  await sleep(1200);
  const three = Array(3).fill(ada.email);
  assert.deepEqual(await Promise.all([emails(first, 3), emails(second, 3)]), [three, three]);
  assert.equal(await asked("/auth/session/refresh"), 2);
}

/** Asks who is signed in, some times at once. */
const emails = (page: Page, times: number) => page.evaluate((times) =>
  Promise.all(Array.from({ length: times }, async () => (await canopy.request<{ me: { email: string } }>("{ me { email } }")).me.email)), times);

/** Sets what happens on the way to the platform, and forgets how often anything was asked. */
async function weather(query: string): Promise<void> {
  await fetch(`${url}/weather/set?${query}`, { method: "POST" });
}

/** How often a path was asked since the weather was set. */
async function asked(path: string): Promise<number> {
  return Number(await (await fetch(`${url}/weather/asked?path=${path}`)).text());
}
