import assert from "node:assert/strict";
import test from "node:test";
import { accessible, greta, mira, open, receivers, signIn, url } from "./visit.js";

test("a directory: its token, its last sync, and its end", async (t) => {
  const page = await open(t, { complaints: /status of 401/ });
  await signIn(page, greta, "/console/identity/directories");
  await page.getByRole("heading", { name: "No directory yet" }).waitFor();
  await accessible(page, "directories-none");
  await page.getByRole("link", { name: "New directory" }).first().click();
  const create = page.getByRole("region", { name: "New directory" });
  await create.getByLabel("Name").fill("Personnel");
  await accessible(page, "directory-create");
  await create.getByRole("button", { name: "Create" }).click();
  await create.getByText("Copy the token now").waitFor();
  await accessible(page, "directory-token");
  const [base, token] = await create.locator("code").allInnerTexts();
  const ask = (method: string, path: string, body?: object) =>
    fetch(`${base}${path}`, { method, headers: { authorization: `Bearer ${token}`, "content-type": "application/scim+json" }, ...(body && { body: JSON.stringify(body) }) });
  await create.getByRole("button", { name: "I have kept it" }).click();
  const list = page.getByRole("listbox", { name: "Directories" });
  await list.getByText("never synced").waitFor();
  assert.equal((await ask("POST", "/Users", { userName: "pia@alpine.example", name: { givenName: "Pia", familyName: "Provisioned" } })).status, 201);
  await page.reload();
  await list.getByRole("option", { name: /Personnel/ }).click();
  const one = page.getByRole("region", { name: "Personnel" });
  await one.getByText("Last sync").waitFor();
  assert.equal(await one.getByText("never").count(), 0);
  await accessible(page, "directory");
  await one.getByRole("button", { name: "End" }).click();
  await page.getByRole("dialog", { name: "End Personnel?" }).getByRole("button", { name: "End" }).click();
  await page.getByRole("heading", { name: "No directory yet" }).waitFor();
  assert.equal((await ask("GET", "/Users")).status, 401);
});

test("a provider is set up, and what is wrong is said", async (t) => {
  const page = await open(t, { complaints: /status of 400/ });
  await signIn(page, greta, "/console/identity");
  await page.getByRole("heading", { name: "No identity provider yet" }).waitFor();
  await accessible(page, "providers-none");
  await page.getByRole("link", { name: "New provider" }).first().click();
  const create = page.getByRole("region", { name: "New provider" });
  await create.waitFor();
  await page.keyboard.type("Login");
  await create.getByLabel("Issuer").fill("http://login.example.com");
  await create.getByLabel("Client id").fill("canopy");
  await create.getByLabel("Client secret", { exact: true }).fill("a secret");
  await create.getByRole("button", { name: "Create" }).click();
  await create.locator("[aria-invalid=true]").waitFor();
  await accessible(page, "provider-create");
  await create.getByLabel("Issuer").fill(new URL(receivers.well).origin);
  await create.getByLabel("Domains").fill("login.example.com");
  await create.getByRole("button", { name: "Create" }).click();
  const one = page.getByRole("region", { name: "Login" });
  await one.getByText("not proven yet").waitFor();
  await one.getByText("_canopy-challenge.login.example.com").waitFor();
  for (const copy of await one.getByRole("button", { name: "Copy" }).all()) {
    assert.ok(await copy.locator(".mantine-Button-label").evaluate((label) => label.scrollWidth <= label.clientWidth), "a button is cut off");
  }
  await one.getByRole("link", { name: "Sign in there" }).waitFor();
  await accessible(page, "provider");
  // A try that comes to nothing leads back, and says why.
  await one.getByRole("link", { name: "Sign in there" }).click();
  await one.getByRole("alert").getByText("Nobody could sign in like this").waitFor();
  assert.match(page.url(), /\/console\/identity\/\d+/);
  await accessible(page, "provider-refused");
  await one.getByLabel("Name").fill("Renamed");
  await one.getByRole("button", { name: "Save" }).click();
  await page.getByRole("region", { name: "Renamed" }).getByRole("button", { name: "Remove" }).click();
  await page.getByRole("dialog", { name: "Remove Renamed?" }).getByRole("button", { name: "Remove" }).click();
  await page.getByRole("heading", { name: "No identity provider yet" }).waitFor();

  const other = await open(t);
  await signIn(other, mira);
  assert.equal(await other.getByRole("link", { name: "Sign-in", exact: true }).count(), 0);
  await other.goto(`${url}/console/identity`);
  await other.getByRole("heading", { name: "No identity provider yet" }).waitFor();
  assert.equal(await other.getByRole("link", { name: "New provider" }).count(), 0);
});
