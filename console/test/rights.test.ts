import assert from "node:assert/strict";
import test from "node:test";
import type { Dialog, Page } from "playwright-core";
import { added, graph } from "./made.js";
import { accessible, ada, greta, jonas, mira, open, signIn, sofia, url } from "./visit.js";

test("who may do what and why; take a permission away, give another, turn it off", async (t) => {
  const page = await open(t);
  await signIn(page, greta, "/console/people");
  await page.getByRole("listbox", { name: "People" }).getByRole("option", { name: /Mira Vogel/ }).click();
  const person = page.getByRole("region", { name: "Mira Vogel" });
  const rights = person.getByRole("region", { name: "What they may do, and why" });
  await rights.getByText(/^Viewer in .* of Alpine Energy$/).first().waitFor();
  await accessible(page, "person");

  await rights.getByRole("link", { name: "Give a permission" }).click();
  const grant = page.getByRole("region", { name: "Give Mira Vogel a permission" });
  await grant.getByText("They have a permission on every account").waitFor();
  await grant.getByRole("button", { name: "Cancel" }).click();
  const viewer = rights.getByText(/^Viewer in .* of Alpine Energy$/);
  await viewer.first().waitFor();
  const before = await viewer.count();
  await rights.getByRole("button", { name: /^Take away: Viewer/ }).last().click();
  await page.getByText("The permission is taken away.").waitFor();
  await viewer.nth(before - 1).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Undo" }).click();
  await viewer.nth(before - 1).waitFor();
  await rights.getByRole("button", { name: /^Take away: Viewer/ }).last().click();
  await viewer.nth(before - 1).waitFor({ state: "detached" });

  await rights.getByRole("link", { name: "Give a permission" }).click();
  await grant.getByText("It will allow").waitFor();
  assert.equal(await grant.getByLabel("Role").locator("option:checked").innerText(), "Viewer"); // the least, until one chooses
  await grant.getByLabel("Role").selectOption({ label: "Member" });
  await grant.getByText("It will allow").waitFor();
  await accessible(page, "grant");
  await grant.getByRole("button", { name: "Give a permission" }).click();
  await rights.getByText(/^Member in .* of Alpine Energy$/).waitFor();
  await rights.getByRole("button", { name: /^Turn off: Member/ }).click();
  await rights.getByText("turned off").waitFor();
  await rights.getByRole("button", { name: /^Turn on: Member/ }).click();
  await rights.getByText("turned off").waitFor({ state: "detached" });
  await page.getByRole("alert").filter({ hasText: /is Member .* again/ }).waitFor();
  assert.equal(await rights.getByText(/ of Alpine Energy$/).count(), before);
});

test("an admin is offered nothing on owners that only owners may do", async (t) => {
  const page = await open(t);
  await signIn(page, jonas, "/console/people");
  await page.getByRole("listbox", { name: "People" }).getByRole("option", { name: /Greta Huber/ }).click();
  const person = page.getByRole("region", { name: "Greta Huber" });
  await person.getByText(/^Owner in Tenant management of/).waitFor();
  await person.getByText("Only an owner can change this.").first().waitFor();
  await accessible(page, "person-owner");
  for (const name of [/^Turn off: Owner/, /^Take away: Owner/, "Remove from a company"]) assert.equal(await person.getByRole("button", { name }).count(), 0, String(name));

  await page.getByRole("listbox", { name: "People" }).getByRole("option", { name: /Mira Vogel/ }).click();
  await page.getByRole("region", { name: "Mira Vogel" }).getByRole("button", { name: "Remove from a company" }).waitFor();
  await page.getByRole("link", { name: "Invite people" }).click();
  const roles = page.getByRole("region", { name: "Invite people" }).getByRole("group", { name: "What they may do" });
  await roles.getByText("and those of owners").waitFor();
  for (const options of await roles.getByRole("combobox").all()) {
    assert.ok((await options.getByRole("option", { name: "Admin" }).count()) > 0);
    assert.equal(await options.getByRole("option", { name: "Owner" }).count(), 0);
  }
  await accessible(page, "invite-admin");

  await signOutOf(page);
  await signIn(page, greta, "/console/people");
  await page.getByRole("link", { name: "Invite people" }).click();
  await roles.getByRole("combobox").first().getByRole("option", { name: "Owner" }).waitFor({ state: "attached" });
});

test("the roles beside each other", async (t) => {
  const page = await open(t);
  await signIn(page, jonas, "/console/roles");
  const row = page.getByRole("row", { name: /company\.write/ }).first();
  await row.waitFor();
  await accessible(page, "roles");
  assert.ok((await row.getByRole("img", { name: "not allowed", exact: true }).count()) > 0);
  assert.ok((await row.getByRole("img", { name: "allowed", exact: true }).count()) > 0);
  // What counts in another application alone is not said to be given.
  const named = async (application: string) => (await page.getByRole("region", { name: application, exact: true }).getByRole("rowheader").allInnerTexts()).join();
  assert.match(await named("Tenant management"), /user\.write/);
  assert.doesNotMatch(await named("Tenant management"), /context|agent/);
  assert.match(await named("Assistant"), /context\.write.*agent\.read/);
  assert.doesNotMatch(await named("Assistant"), /user|agent\.write/);
});

test("a role of one's own: made of another, changed by two people at once, and deleted", async (t) => {
  const page = await open(t);
  await signIn(page, greta, "/console/roles");
  await page.getByRole("link", { name: "Viewer" }).first().click();
  const viewer = page.getByRole("region", { name: "Viewer", exact: true });
  await viewer.getByText("every company").waitFor();
  await accessible(page, "role-system");
  await viewer.getByRole("link", { name: "Make a role of your own of it" }).click();
  const form = page.getByRole("region", { name: "Create a role" });
  assert.equal(await form.getByLabel("See people user.read").isChecked(), true);
  await form.getByRole("button", { name: "Create" }).click(); // the browser asks for a name
  await form.getByLabel("Name").fill("Auditor");
  await form.getByLabel("audit.read").check();
  await accessible(page, "role-create");
  await form.getByRole("button", { name: "Create" }).click();
  await page.getByText("The role Auditor is there.").waitFor();
  const column = page.getByRole("link", { name: "Auditor" });
  await column.click();
  const role = page.getByRole("region", { name: "Auditor", exact: true });
  await role.getByLabel("What it is for").fill("Reads what was done");

  const other = await open(t);
  await signIn(other, greta, page.url().replace(url, ""));
  const same = other.getByRole("region", { name: "Auditor", exact: true });
  await same.getByLabel("billing.read").uncheck();
  await same.getByRole("button", { name: "Save" }).click();
  await other.getByText("Saved", { exact: true }).waitFor();

  await role.getByRole("button", { name: "Save" }).click();
  await role.getByRole("alert").waitFor();
  await role.getByText("Somebody else has changed it meanwhile.").waitFor();
  await accessible(page, "role-changed");
  await role.getByRole("button", { name: "Show it as it is now" }).click();
  assert.equal(await role.getByLabel("billing.read").isChecked(), false);
  await role.getByLabel("What it is for").fill("Reads what was done");
  await role.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.waitForFunction(() => ![...document.querySelectorAll("input, textarea")].some((field) => (field as HTMLInputElement).value === "Reads what was done"));
  assert.equal(await role.getByLabel("billing.read").isChecked(), false);

  await role.getByRole("button", { name: "Delete" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete the role Auditor?" });
  await accessible(page, "role-delete");
  await dialog.getByRole("button", { name: "Delete" }).click();
  await column.waitFor({ state: "detached" });
  await page.getByRole("alert").filter({ hasText: "The role Auditor is deleted." }).getByRole("button", { name: "Undo" }).click();
  await column.waitFor();
});

test("who may not give rights reads roles, and changes none", async (t) => {
  const page = await open(t);
  await signIn(page, mira, "/console/roles");
  await page.getByRole("link", { name: "Member" }).first().click();
  await page.getByRole("region", { name: "Member", exact: true }).getByText("every company").waitFor();
  assert.equal(await page.getByRole("link", { name: "Make a role of your own of it" }).count(), 0);
  assert.equal(await page.getByRole("link", { name: "Create a role" }).count(), 0);
});

test("an API key: its secret once, another secret, and the end of it", async (t) => {
  const page = await open(t);
  await signIn(page, greta, "/console/keys");
  await page.getByRole("heading", { name: "No API key yet" }).waitFor();
  await accessible(page, "keys-none");
  await page.getByRole("link", { name: "Create a key" }).first().click();
  const panel = page.getByRole("region", { name: "Create a key" });
  await panel.getByLabel("Name").fill("Nightly export");
  await panel.getByLabel("company.read").check();
  await accessible(page, "key-create");
  await panel.getByRole("button", { name: "Create" }).click();
  await panel.getByText("Copy the secret now").waitFor();
  await accessible(page, "key-secret");
  const [clientId, secret] = await panel.locator("code").allInnerTexts();
  // It is shown this once: neither Escape nor a way elsewhere loses it without a question.
  const asked: string[] = [];
  const answer = (question: Dialog) => void (asked.push(question.message()), question.dismiss());
  page.on("dialog", answer);
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name: "Home" }).click();
  page.off("dialog", answer);
  assert.equal(asked.filter((question) => question.startsWith("This is shown this once")).length, 2);
  assert.deepEqual(await panel.locator("code").allInnerTexts(), [clientId, secret]);
  await panel.getByRole("button", { name: "I have kept it" }).click();

  const token = await fetch(`${url}/connect/token`, {
    method: "POST", body: new URLSearchParams({ grant_type: "client_credentials", client_id: clientId!, client_secret: secret!, target_app: "tenant" }),
  });
  assert.equal(token.status, 200);
  await page.getByRole("option", { name: /Nightly export/ }).click();
  const key = page.getByRole("region", { name: "Nightly export" });
  await key.getByText(clientId!).waitFor();
  await accessible(page, "key");
  assert.equal(await page.getByText(secret!).count(), 0, "the secret is shown again");
  const tokenBy = async (secret: string) => (await fetch(`${url}/connect/token`, {
    method: "POST", body: new URLSearchParams({ grant_type: "client_credentials", client_id: clientId!, client_secret: secret, target_app: "tenant" }),
  })).status;
  await key.getByRole("button", { name: "New secret" }).click();
  const another = page.getByRole("dialog", { name: "A new secret for Nightly export?" });
  await another.getByText("Both secrets work until then").waitFor();
  await accessible(page, "key-new-secret");
  await another.getByRole("button", { name: "Cancel" }).click();
  assert.equal(await key.getByText("Copy the secret now").count(), 0, "a secret was made that nobody has asked for");
  await key.getByRole("button", { name: "New secret" }).click();
  await another.getByRole("button", { name: "Make a new secret" }).click();
  await key.getByText(/The one of before still works, and ends/).waitFor();
  assert.equal(await tokenBy(secret!), 200);
  await key.getByRole("button", { name: "I have kept it" }).click();
  await key.getByText("Copy the secret now").waitFor({ state: "detached" });
  await key.getByRole("button", { name: "New secret" }).click();
  await another.getByLabel("It ends at once").check();
  await another.getByText("can’t get a token any more").waitFor();
  await another.getByRole("button", { name: "Make a new secret" }).click();
  await key.getByText("The one of before has ended.").waitFor();
  const latest = await key.getByRole("status").locator("code").nth(1).innerText();
  assert.deepEqual([await tokenBy(secret!), await tokenBy(latest)], [401, 200]);
  await key.getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("dialog", { name: "Revoke Nightly export?" }).getByRole("button", { name: "Revoke" }).click();
  await key.getByText("This key is revoked").waitFor();
});

test("an owner makes a key for somebody else; who is no owner can't, and is told who can", async (t) => {
  const page = await open(t, { complaints: /status of (400|403)/ });
  await signIn(page, greta, "/console/people");
  await page.getByRole("listbox", { name: "People" }).getByRole("option", { name: /Mira Vogel/ }).click();
  await page.getByRole("region", { name: "Mira Vogel" }).getByRole("link", { name: "Make an API key for them" }).click();
  const panel = page.getByRole("region", { name: "Create a key" });
  const actor = panel.getByRole("combobox", { name: "Acts as" });
  await page.waitForFunction(() => [...document.querySelectorAll("input")].some(({ value }) => value.startsWith("Mira Vogel")));
  await actor.fill("jonas");
  await page.getByRole("option", { name: /jonas@alpine\.example/ }).waitFor();
  await accessible(page, "key-for");
  await actor.fill("nobody at all");
  await page.getByText("Nothing fits").waitFor();
  await actor.fill("mira");
  await page.getByRole("option", { name: /mira@alpine\.example/ }).click();
  assert.match(page.url(), /user=\d+/);
  await panel.getByLabel("Name").fill("Mira’s reports");
  await panel.getByRole("button", { name: "Create" }).click();
  await panel.getByText("Copy the secret now").waitFor();
  const [clientId, secret] = await panel.locator("code").allInnerTexts();
  const token = await fetch(`${url}/connect/token`, {
    method: "POST", body: new URLSearchParams({ grant_type: "client_credentials", client_id: clientId!, client_secret: secret!, target_app: "tenant" }),
  });
  const { access_token } = await token.json() as { access_token: string };
  const me = await fetch(`${url}/graphql`, { method: "POST", headers: { "Content-Type": "application/json", Authorization: `Bearer ${access_token}` }, body: JSON.stringify({ query: "{ me { email } }" }) });
  const { data } = await me.json() as { data: unknown };
  assert.deepEqual(data, { me: { email: mira.email } });

  // Who is in the company and has not accepted it can't be acted for.
  await added(ada, sofia.email, ["Alpine Energy"]);
  await page.goto(`${url}/console/keys/new`);
  await actor.fill("sofia");
  await page.getByRole("option", { name: /sofia/ }).click();
  await panel.getByLabel("Name").fill("Not yet");
  await panel.getByRole("button", { name: "Create" }).click();
  await panel.getByText(/has not accepted the company yet/).waitFor();
  await accessible(page, "key-not-accepted");

  const admin = await open(t);
  await signIn(admin, jonas, "/console/keys/new");
  await admin.getByRole("region", { name: "Create a key" }).getByLabel("Name").waitFor();
  assert.equal(await admin.getByRole("combobox", { name: "Acts as" }).count(), 0);
  await admin.getByRole("option", { name: /Mira’s reports/ }).click();
  await admin.getByText("It acts as somebody else").waitFor();
  assert.equal(await admin.getByRole("button", { name: "Revoke" }).count(), 0);
});

test("the address of a key leads to it, however many there are", async (t) => {
  const page = await open(t);
  const one = "createApiKey(input: { name: \"One of many\", features: [\"company.read\"] }) { apiKey { databaseId } }";
  const twenty = `mutation { ${Array.from({ length: 20 }, (_, number) => `key${number}: ${one}`).join(" ")} }`;
  let last = 0;
  for (let round = 0; round < 6; round++) {
    const { key19 } = await graph<{ key19: { apiKey: { databaseId: number } } }>(ada, twenty, {});
    last = key19.apiKey.databaseId;
  }
  await signIn(page, ada, `/console/keys/${last}`);
  const key = page.getByRole("region", { name: "One of many" });
  await key.getByRole("button", { name: "Revoke" }).waitFor();
  await page.goto(`${url}/console/keys/${last + 1000}`);
  await page.getByRole("heading", { name: "This is not here" }).waitFor();
});

test("each role sees what it may use, and no more", async (t) => {
  for (const [who, menu, invites] of [
    [greta, ["Companies", "People", "Roles", "API keys"], true],
    [jonas, ["Companies", "People", "Roles", "API keys"], true],
    [mira, ["Companies", "People", "Roles"], false],
    [sofia, ["Companies", "People", "Roles"], false],
  ] as const) {
    const page = await open(t);
    await signIn(page, who, "/console/people");
    await page.getByRole("listbox", { name: "People" }).getByRole("option").first().waitFor();
    const shown = await page.getByRole("navigation", { name: "Main" }).getByRole("link").allInnerTexts();
    for (const name of ["Companies", "People", "Roles", "API keys"]) assert.equal(shown.includes(name), (menu as readonly string[]).includes(name), `${who.email}: ${name}`);
    assert.equal((await page.getByRole("link", { name: "Invite people" }).count()) > 0, invites, who.email);
  }
});

test("each role walks all pages: nothing goes wrong on those of its menu, and the others say what it lacks", async (t) => {
  // What each address is good for takes a right in one of these applications.
  const anywhere = ["tenant", "assistant", "builder"];
  const pages: readonly (readonly [path: string, applications: readonly string[], right: string])[] = [
    ["/companies/1/new", ["tenant"], "company.create"], ["/companies/1/billing", ["tenant"], "billing.read"], ["/companies/1/move", ["tenant"], "company.write"],
    ["/people/invite", ["tenant"], "user.write"], ["/people/1/grant", ["tenant"], "permission.write"], ["/roles/new", ["tenant"], "permission.write"],
    ["/contexts/new", ["assistant"], "context.write"], ["/agents/new", ["builder"], "agent.write"], ["/agents/secrets/new", ["builder"], "agent.write"],
    ["/webhooks/destinations/new", anywhere, "webhook.write"], ["/webhooks/destinations/portal-link", ["tenant"], "key.write"], ["/keys", ["tenant"], "key.read"],
    ["/keys/new", ["tenant"], "key.write"], ["/identity/new", ["tenant"], "company.write"], ["/identity/directories", ["tenant"], "key.read"], ["/audit", ["tenant"], "audit.read"],
    ["/operations", ["tenant"], "audit.read"],
  ];
  for (const who of [greta, jonas, mira, sofia]) {
    const { me: { grants } } = await graph<{ me: { grants: { application: string; features: string[] }[] } }>(who, "{ me { grants { application features } } }", {});
    const may = (applications: readonly string[], right: string) => grants.some(({ application, features }) => applications.includes(application) && features.includes(right));
    const lacks = pages.flatMap(([path, applications, right]) => (may(applications, right) ? [] : [path]));
    const page = await open(t);
    await signIn(page, who);
    const menu = await page.locator(".mantine-AppShell-navbar a").evaluateAll((links) => links.map((link) => link.getAttribute("href")!));
    for (const path of menu) {
      await page.goto(url + path);
      const main = page.getByRole("main");
      await main.getByRole("heading", { level: 1 }).waitFor();
      await main.locator(":is(.mantine-Skeleton-root, .mantine-Loader-root, [aria-busy=true])").first().waitFor({ state: "detached" });
      assert.equal(await main.getByRole("alert").count(), 0, `${who.email}: ${path}`);
      for (const beside of await main.locator("nav.lists a").all()) {
        await beside.click();
        await main.locator(":is(.mantine-Skeleton-root, .mantine-Loader-root, [aria-busy=true])").first().waitFor({ state: "detached" });
        assert.equal(await main.getByRole("alert").count(), 0, `${who.email}: ${await beside.getAttribute("href")}`);
      }
      assert.equal(await page.getByRole("heading", { name: "Not for you" }).count(), 0, `${who.email}: ${path}`);
    }
    for (const path of lacks) {
      await page.goto(`${url}/console${path}`);
      await page.getByRole("heading", { level: 1, name: "Not for you" }).waitFor();
      await page.getByText("None of your roles has the right for it.").waitFor();
    }
    if (lacks.length > 0) await accessible(page, "not-allowed");
  }
});

async function signOutOf(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Account" }).click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByText("You are signed out.").waitFor();
}
