// What goes wrong on the way, whatever the screen.
import assert from "node:assert/strict";
import test from "node:test";
import { accessible, greta, open, signIn, signInInGerman, url } from "./visit.js";

test("a change that is under way already (409) is asked for again, by the same key, and done once", async (t) => {
  const page = await open(t, { complaints: /status of 409/ });
  await signIn(page, greta, "/console/roles/new");
  const keys: (string | undefined)[] = [];
  await page.route(`${url}/graphql`, (route) => {
    const request = route.request();
    if (!request.postData()?.includes("createRole")) return route.fallback();
    keys.push(request.headers()["idempotency-key"]);
    return keys.length > 1 ? route.fallback() : route.fulfill({
      status: 409, headers: { "Retry-After": "1" },
      json: { errors: [{ message: "a request with this key is under way", extensions: { code: "BAD_REQUEST", reason: "idempotency_in_progress" } }] },
    });
  });
  const form = page.getByRole("region", { name: "Create a role" });
  await form.getByLabel("Name").fill("Auditor");
  await form.getByRole("button", { name: "Create" }).click();
  await page.getByText("The role Auditor is there.").waitFor();
  assert.equal(keys.length, 2);
  assert.ok(keys[0] && keys[0] === keys[1], keys.join());
  await page.getByRole("link", { name: "Auditor" }).first().waitFor(); // it comes with the list
  assert.equal(await page.getByRole("link", { name: "Auditor" }).count(), 1);
});

test("a slow platform: what is awaited is shown, and nothing is sent twice", async (t) => {
  const page = await open(t);
  await signIn(page, greta, "/console/roles");
  await page.getByRole("link", { name: "Create a role" }).click();
  const form = page.getByRole("region", { name: "Create a role" });
  await form.getByLabel("Name").fill("Slow");
  let sent = 0;
  let answer = () => {};
  const later = new Promise<void>((done) => (answer = done));
  await page.route(`${url}/graphql`, async (route) => {
    if (route.request().postData()?.includes("createRole")) sent++;
    await later;
    await route.fallback();
  });
  await form.getByRole("button", { name: "Create" }).click();
  await form.locator("button[data-loading]").waitFor();
  await form.getByLabel("Name").press("Enter");
  await form.getByLabel("Name").press("Enter");
  await page.getByRole("navigation").getByRole("link", { name: "People", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "People" }).waitFor(); // one can go on meanwhile
  await accessible(page, "slow");
  answer();
  await page.getByRole("listbox", { name: "People" }).getByRole("option", { name: /Mira Vogel/ }).waitFor();
  await page.getByText("The role Slow is there.").waitFor();
  assert.equal(sent, 1);
});

test("a slow platform: a company is made once its regions are known", async (t) => {
  const page = await open(t);
  let answer = () => {};
  const later = new Promise<void>((done) => (answer = done));
  await page.route(`${url}/graphql`, async (route) => {
    if (route.request().postData()?.includes("query Regions")) await later;
    await route.fallback();
  });
  await signIn(page, greta, "/console/companies");
  await page.getByRole("link", { name: "Create a company" }).first().click();
  const form = page.getByRole("region", { name: "Create a company" });
  await form.getByLabel("Name", { exact: true }).fill("Patient");
  await form.getByLabel("First admin’s e-mail").fill("pat@patient.example");
  await form.getByLabel("First admin’s e-mail").press("Enter");
  assert.equal(await form.getByRole("button", { name: "Create", exact: true }).isDisabled(), true);
  answer();
  await form.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByRole("region", { name: "Patient" }).waitFor();
});

test("a switch shows at once what it will be, and turns back where the platform refuses", async (t) => {
  const page = await open(t, { complaints: /status of 403/ });
  await signIn(page, greta, "/console/people");
  await page.getByRole("listbox", { name: "People" }).getByRole("option", { name: /Mira Vogel/ }).click();
  const rights = page.getByRole("region", { name: "What they may do, and why" });
  const turnOff = rights.getByRole("button", { name: /^Turn off: Viewer/ }).first();
  await turnOff.waitFor();
  let answer = () => {};
  const later = new Promise<void>((done) => (answer = done));
  await page.route(`${url}/graphql`, async (route) => {
    if (!route.request().postData()?.includes("setPermissionDisabled")) return route.fallback();
    await later;
    await route.fulfill({ status: 403, json: { data: null, errors: [{ message: "this is not for you", extensions: { code: "FORBIDDEN" } }] } });
  });
  await turnOff.click();
  await rights.getByText("turned off").first().waitFor();
  answer();
  await page.getByText("This is not for you").waitFor();
  await rights.getByText("turned off").waitFor({ state: "detached" });
});

test("a switch that is turned off and on again at once is on in the end, however long the first of both took", async (t) => {
  const page = await open(t);
  await signIn(page, greta, "/console/people");
  await page.getByRole("listbox", { name: "People" }).getByRole("option", { name: /Mira Vogel/ }).click();
  const rights = page.getByRole("region", { name: "What they may do, and why" });
  let go = () => {};
  const later = new Promise<void>((done) => (go = done));
  await page.route(`${url}/graphql`, async (route) => {
    if (route.request().postData()?.includes('"disabled":true')) await later;
    await route.fallback();
  });
  await rights.getByRole("button", { name: /^Turn off: Viewer/ }).first().click();
  await rights.getByRole("button", { name: /^Turn on: Viewer/ }).click();
  await rights.getByText("turned off").waitFor({ state: "detached" });
  await page.waitForTimeout(500); // the second would have come to the platform by now
  go();
  await page.getByRole("alert").filter({ hasText: "can do nothing as Viewer" }).waitFor();
  await page.getByRole("alert").filter({ hasText: /is Viewer .* again/ }).waitFor();
  await page.reload();
  await rights.getByRole("button", { name: /^Turn off: Viewer/ }).first().waitFor();
  assert.equal(await rights.getByText("turned off").count(), 0);
});

test("a platform that is not available (503): a list, a form and the sign-in say so, keep what was typed, and go on", async (t) => {
  const page = await open(t, { complaints: /status of 503/ });
  await page.goto(`${url}/console/`);
  const away = page.getByRole("alert").filter({ hasText: "The platform is not available at the moment" });
  await page.getByLabel("E-mail").fill(greta.email);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByLabel("Password", { exact: true }).fill(greta.password);
  await page.route(`${url}/auth/**`, (route) => route.fulfill({ status: 503, body: "" }));
  await page.getByRole("button", { name: "Sign in" }).click();
  await away.waitFor();
  await page.unrouteAll();
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Account" }).waitFor();

  await page.route(`${url}/graphql`, (route) => route.fulfill({ status: 503, body: "" }));
  await page.getByRole("navigation").getByRole("link", { name: "People", exact: true }).click();
  await away.waitFor();
  await accessible(page, "unavailable");
  await page.unrouteAll();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("listbox", { name: "People" }).getByRole("option", { name: /Mira Vogel/ }).waitFor();

  await page.goto(`${url}/console/roles/new`);
  const form = page.getByRole("region", { name: "Create a role" });
  await form.getByLabel("Name").fill("Patient");
  await page.route(`${url}/graphql`, (route) => route.fulfill({ status: 503, body: "" }));
  await form.getByRole("button", { name: "Create" }).click();
  await form.getByText("The platform is not available at the moment").waitFor();
  await page.unrouteAll();
  assert.equal(await form.getByLabel("Name").inputValue(), "Patient");
  await form.getByRole("button", { name: "Create" }).click();
  await page.getByText("The role Patient is there.").waitFor();
});

test("a part of an answer that another cell has is missing: the page says so, and is there otherwise", async (t) => {
  const page = await open(t);
  await signIn(page, greta, "/console/companies");
  const parts = { Agents: "agents", AgentNames: "agents", Secrets: "secrets", Usage: "usage", Room: "usage", DeletedAgents: "deletedAgents", Contexts: "contexts" } as const;
  await page.route(`${url}/graphql`, async (route) => {
    const part = Object.entries(parts).find(([name]) => new RegExp(`query ${name}\\b`).test(route.request().postData() ?? ""))?.[1];
    if (!part) return route.fallback();
    const response = await route.fetch();
    const { data } = await response.json();
    const path = part in data ? [] : [...(data.me ? ["me"] : []), "customer"];
    (part in data ? data : (data.me ?? data).customer)[part] = null;
    const errors = [{ message: "the cell of the region eu-central is not available at the moment", path: [...path, part], extensions: { code: "UNAVAILABLE", region: "eu-central" } }];
    return route.fulfill({ response, json: { errors, data } });
  });
  const alert = page.getByRole("alert").filter({ hasText: "The cell of the region eu-central is not available at the moment." });
  await page.getByRole("link", { name: "Create a company" }).first().click();
  await page.getByRole("region", { name: "Create a company" }).getByText("It will be below Alpine Energy.").waitFor();
  const { company } = /companies\/(?<company>\d+)/.exec(page.url())!.groups!;
  for (const [address, heading] of Object.entries({
    [`/console/companies/${company}/usage`]: "Limits and use", "/console/agents": "Agents", "/console/agents/secrets": "Secrets",
    "/console/agents/deleted": "Recently deleted", "/console/contexts": "Contexts",
  })) {
    await page.goto(url + address);
    await page.getByRole("heading", { name: heading, exact: true }).first().waitFor();
    await alert.first().waitFor(); // what lies over a list misses a part of its own
    await accessible(page, `without a part of ${heading}`);
  }
  await page.goto(`${url}/console/agents/runs?agent=1`); // whose list of names is short
  await page.getByRole("heading", { name: "Runs", exact: true }).first().waitFor();
  await page.getByLabel("Agent", { exact: true }).waitFor();
  assert.equal(await alert.count(), 0);
});

test("a page that is opened without a connection says so, and loads by itself once there is one, in German as well", async (t) => {
  for (const { language, keys, enter, lost } of [
    { language: "en-GB", keys: "API keys", enter: signIn, lost: "The connection is lost. This page loads by itself when it is back." },
    { language: "de-DE", keys: "API-Schlüssel", enter: signInInGerman, lost: "Die Verbindung ist weg. Die Seite lädt von selbst, sobald sie wieder da ist." },
  ]) {
    const page = await open(t, { language, complaints: /ERR_INTERNET_DISCONNECTED|WebSocket/ });
    await enter(page, greta);
    const link = page.getByRole("navigation").getByRole("link", { name: keys, exact: true });
    const code = page.waitForResponse(/\/assets\/Keys-[^/]*\.js$/);
    await link.hover(); // what the page is made of is loaded
    const address = (await code).url();
    await page.evaluate(async (module) => void (await import(module)), address);
    await page.context().setOffline(true);
    await link.click();
    const alert = page.getByRole("alert").filter({ hasText: lost });
    await alert.waitFor();
    await page.context().setOffline(false);
    await alert.waitFor({ state: "detached" });
    await page.getByRole("heading", { level: 1, name: keys }).waitFor();
    await page.getByRole("listbox").getByRole("option").first().or(page.getByRole("heading", { level: 2 })).first().waitFor();
  }
});
