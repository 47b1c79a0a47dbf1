// The pages beside the console: setting up an account, GraphiQL, the REST reference, the queues.
import assert from "node:assert/strict";
import test from "node:test";
import type { Page } from "playwright-core";
import { ada, key, linkFor, open, url } from "./visit.js";

const good = "correct horse battery staple";

/** Asks the graph as the root company's owner. */
async function asAda(query: string, variables: Record<string, unknown>): Promise<void> {
  const post = (path: string, body: unknown, token?: string) =>
    fetch(url + path, { method: "POST", headers: { "Content-Type": "application/json", ...(token ? { Authorization: `Bearer ${token}` } : {}) }, body: JSON.stringify(body) });
  const { token } = await (await post("/auth/token", ada)).json() as { token: string };
  const { errors } = await (await post("/graphql", { query, variables }, token)).json() as { errors?: unknown };
  assert.equal(errors, undefined, JSON.stringify(errors));
}

/** Types a password twice, and sends the form. */
async function setUp(page: Page, password: string, again = password): Promise<void> {
  await page.getByLabel("New password", { exact: true }).fill(password);
  await page.getByLabel("New password, again").fill(again);
  await page.getByRole("button", { name: "Set your password" }).click();
}

/** What pages post to a path, as it comes. */
function posts(page: Page, path: string): unknown[] {
  const list: unknown[] = [];
  page.on("request", (request) => void (new URL(request.url()).pathname === path && list.push(request.postDataJSON())));
  return list;
}

test("the first page leads browsers to the console, and says to others what there is", async (t) => {
  const page = await open(t);
  await page.goto(`${url}/`);
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await page.route(`${url}/`, async (route) => route.fulfill({ response: await route.fetch({ headers: { accept: "*/*" } }) }));
  await page.goto(`${url}/`);
  await page.getByText(/^Ready · Version /).waitFor();
});

test("an invitation: faults before anything is sent, a password, a login, and a link that is used up", async (t) => {
  const email = "iris@newcomers.example";
  await asAda("mutation($in: CreateUserInput!) { createUser(input: $in) { user { id } } }", { in: { customerId: 1, email } });
  const link = await linkFor(email);
  assert.match(link, /\/setup#token=/);
  const page = await open(t, { complaints: /status of 40[03]/ });
  const sent = posts(page, "/auth/setup");
  await page.goto(link);
  await page.getByText("has invited you").waitFor();
  assert.equal(await page.getByLabel("E-mail").inputValue(), email);
  for (const [password, again, says, field] of [
    ["short", "short", "The password needs at least 10 characters", "New password"],
    ["😀😀😀😀😀", "😀😀😀😀😀", "The password needs at least 10 characters", "New password"],
    [good, `${good}!`, "The two passwords are not the same", "New password, again"],
  ] as const) {
    await setUp(page, password, again);
    await page.getByText(says, { exact: true }).waitFor();
    assert.equal(await page.getByLabel(field, { exact: true }).getAttribute("aria-invalid"), "true");
  }
  await page.getByRole("button", { name: "Show the password" }).first().click();
  assert.equal(await page.getByLabel("New password", { exact: true }).getAttribute("type"), "text");
  assert.deepEqual(sent, []);
  assert.equal(new URL(page.url()).hash, "", "the token stays in the address");
  await setUp(page, good);
  // Who may do nothing yet is told so, in place of being signed in.
  await page.getByRole("heading", { name: "Your password is set" }).waitFor();
  await page.getByRole("alert").waitFor();
  assert.deepEqual(sent, [{ token: new URLSearchParams(new URL(link).hash.slice(1)).get("token"), password: good }]);

  const again = await open(t, { complaints: /status of 400/ });
  await again.goto(link.replace("#", "?"));
  await again.getByText("This link is not known, was used already, or has expired.").waitFor();
  await again.getByRole("link", { name: "Get a new link" }).click();
  await again.getByLabel("E-mail").fill(email);
  await again.getByRole("button", { name: "Send the link" }).click();
  await again.getByText("a link is on its way").waitFor();

  // The link of a reset asks whether API keys end.
  let reset = link;
  while (reset === link) reset = await linkFor(email);
  const last = await open(t, { complaints: /status of 403/ });
  const reposted = posts(last, "/auth/setup");
  await last.goto(reset);
  await last.getByLabel("Keep my API keys working").check();
  await setUp(last, `${good}!`);
  await last.getByRole("heading", { name: "Your password is set" }).waitFor();
  assert.equal((reposted[0] as { revokeKeys?: boolean }).revokeKeys, false);
});

test("a new address is kept away, or confirmed, by the links of the mails", async (t) => {
  const next = "ada@northwind.example";
  const ask = (email: string) => asAda("mutation($in: RequestEmailChangeInput!) { requestEmailChange(input: $in) { user { id } } }", { in: { email, password: ada.password } });
  const follow = async (link: string, title: string, button: RegExp, says: string) => {
    const page = await open(t);
    await page.goto(link);
    await page.getByRole("heading", { name: title }).waitFor();
    await page.getByRole("button", { name: button }).click();
    await page.getByRole("status").getByText(says).waitFor();
  };
  await ask("foe@evil.example");
  const stop = await linkFor(ada.email, "stop=");
  await follow(stop, "Keep your address", /.+/, "Your address stays as it is.");
  await ask(next);
  await follow(await linkFor(next, "email="), "Confirm your new address", /Confirm the address/, "once the other one has confirmed it");
  while ((await linkFor(ada.email, "stop=")) === stop) await new Promise((done) => setTimeout(done, 100));
  await follow(await linkFor(ada.email, "email="), "Confirm your new address", /Confirm the address/, "The new address is yours now.");
  ada.email = next;
});

/** Signs in to a tool by an API key. */
async function byKey(page: Page, secret: string): Promise<void> {
  await page.locator("#signin").evaluate((box: HTMLDetailsElement) => void (box.open = true));
  await page.locator("#client-id").fill(key.id);
  await page.locator("#client-secret").fill(secret);
  await page.locator("#signin-form button[type=submit]").click();
}

test("GraphiQL: a key that is wrong, one that is right, a query, and events until they are stopped", async (t) => {
  const page = await open(t, { complaints: /status of 40[01]/ });
  await page.goto(`${url}/graphiql`);
  await page.locator(".graphiql-query-editor .CodeMirror").waitFor();
  const ask = async (query: string) => {
    await page.locator(".graphiql-query-editor .CodeMirror").evaluate((element, query) => (element as never as { CodeMirror: { setValue(text: string): void } }).CodeMirror.setValue(query), query);
    await page.locator(".graphiql-execute-button").click();
  };
  /** Waits until an editor of the page holds a text. */
  const holds = (editors: string, text: string) => page.waitForFunction(([editors, text]) => [...document.querySelectorAll(editors!)]
    .some((element) => (element as never as { CodeMirror: { getValue(): string } }).CodeMirror.getValue().includes(text!)), [`${editors} .CodeMirror`, text]);
  await byKey(page, "not the secret");
  await page.locator("#signin-error").getByText(/./).waitFor();
  await byKey(page, key.secret);
  await page.locator("#signin-state").getByText(/^Signed in until/).waitFor();
  await holds(".graphiql-editor", "Bearer ");
  // GraphiQL sends the name of the operation that it has read last: each has the first one's.
  await ask("query WhoAmI { me { email } }");
  await holds(".result-window", `"email": "${ada.email}"`);
  await ask("subscription WhoAmI { auditEvent { action } }");
  let n = 0;
  const changing = setInterval(() => void asAda('mutation($name: String!) { updateCustomer(input: {customerId: 1, name: $name}) { customer { id } } }', { name: `Northwind ${n++}` }), 1000);
  t.after(() => clearInterval(changing));
  await holds(".result-window", "customer.updated");
  await page.locator(".graphiql-execute-button").click();
  const kept = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage]));
  assert.ok(!kept.includes(key.secret) && !kept.split("canopy.session")[0]!.includes("eyJ"), "a credential is kept");
});

test("GraphiQL: a password, the code that is asked for, and signing out", async (t) => {
  const page = await open(t, { complaints: /status of 401/ });
  // A person with two-factor, and a token that the page only keeps.
  const claims = Buffer.from(JSON.stringify({ exp: Math.floor(Date.now() / 1000) + 3600 })).toString("base64url");
  await page.route("**/auth/token", (route) => ((route.request().postDataJSON() as { otp?: string }).otp === "123456"
    ? route.fulfill({ json: { token: `head.${claims}.sign`, customerOptions: [] } })
    : route.fulfill({ status: 401, contentType: "application/problem+json", json: { code: "otp_required", detail: "A code is needed." } })));
  await page.goto(`${url}/graphiql`);
  await page.locator("#signin").evaluate((box: HTMLDetailsElement) => void (box.open = true));
  await page.locator("input[value=login]").check();
  await page.locator("#email").fill(ada.email);
  await page.locator("#password").fill("correct horse");
  const send = page.locator("#signin-form button[type=submit]");
  await send.click();
  await page.locator("#otp").fill("123456");
  await send.click();
  await page.locator("#signin-state").getByText(/^Signed in until/).waitFor();
  await page.locator("#signin").evaluate((box: HTMLDetailsElement) => void (box.open = true));
  await page.locator("#signout").click();
  await page.locator("#signin-state").getByText("Sign in", { exact: true }).waitFor();
  assert.equal(await page.evaluate(() => sessionStorage.length), 0);
});

test("the REST reference: an operation, and what it answers who has signed in", async (t) => {
  const page = await open(t);
  await page.goto(`${url}/docs`);
  await page.locator("#operations-tag-Companies .expand-operation").click();
  await page.locator("#operations-Companies-getIdentity .opblock-summary-description").getByText("Get the current identity").waitFor();
  await byKey(page, key.secret);
  await page.locator("#signin-state").getByText(/^Signed in until/).waitFor();
  await page.locator("#operations-Companies-getIdentity .opblock-summary-control").click();
  await page.locator("#operations-Companies-getIdentity .execute").click();
  await page.locator(".live-responses-table .microlight").getByText(ada.email).first().waitFor();
});

test("the queues: what was done says so", async (t) => {
  const page = await open(t);
  await page.goto(`${url}/monitoring/`);
  await page.getByText("mail", { exact: true }).first().waitFor();
  await page.goto(`${url}/monitoring/queues/mail?status=completed`);
  await page.getByText("The mail server took the mail.").first().waitFor();
});
