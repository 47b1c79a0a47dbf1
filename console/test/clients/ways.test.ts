// The sign-in page of docs/frontend.md: the address first, a company's provider, a password, and a passkey.
import assert from "node:assert/strict";
import test from "node:test";
import type { Page } from "playwright-core";
import type * as Client from "../../../clients/typescript/dist/index.js";
import type { PasskeyQuestion } from "../../../clients/typescript/dist/index.js";
import { device } from "../authenticator.js";
import { openFor, setting } from "../browser.js";

const [page, issuer] = [setting("PAGE"), setting("ISSUER")];
const ada = { email: setting("EMAIL"), password: setting("PASSWORD") };
const options = { complaints: /status of (401|404)/, insecure: true };

// What the test adds to the page: the client, whole.
declare const client: typeof Client;

test("the address leads to the company’s provider, and back with a session", async (t) => {
  const ida = await openFor(t, [page, issuer], options);
  await ida.goto(page);
  await address(ida, "ida@corp.example");
  await atProvider(ida, "ida");
  await ida.locator("#who").getByText("ida@corp.example").waitFor();
  assert.equal(ida.url(), `${page}?sso=in`);
  await ida.goto(page);
  await ida.locator("#who").getByText("ida@corp.example").waitFor(); // without the provider
  await ida.getByRole("button", { name: "Sign out" }).click();
  await ida.getByRole("button", { name: "Yes, sign me out" }).click();
  await ida.waitForURL(/\/console\/sign-in/);
  await ida.goto(page);
  await address(ida, "ida@corp.example");
  await ida.locator("input[name=login]").waitFor(); // she is signed out there, too
});

test("who is turned away has no session, and a try lets nobody in", async (t) => {
  const uma = await openFor(t, [page, issuer], options);
  await uma.goto(page);
  await address(uma, "uma@corp.example");
  await atProvider(uma, "uma");
  await uma.waitForURL(/\/console\/sign-in\?sso=sso_unverified/);
  await uma.goto(page);
  await uma.getByLabel("E-mail").waitFor();
  await uma.evaluate((provider) => location.assign(client.providerPath({ provider, try: true, return: "/page/" })), Number(setting("PROVIDER")));
  await uma.waitForURL(/#trial=/);
  await uma.waitForFunction(() => "client" in window);
  assert.deepEqual(await uma.evaluate(() => client.trialOf(location.hash)), { subject: "uma", email: "uma@corp.example", emailVerified: false, name: "", domainHolds: true });
  await uma.getByLabel("E-mail").waitFor();
});

test("any other address asks for the password, and a passkey signs in alone or beside it", async (t) => {
  const tab = await openFor(t, [page], options);
  await device(tab);
  await tab.goto(page);
  await byPassword(tab, "not the password");
  await tab.getByRole("alert").getByText("password is wrong").waitFor();
  await tab.getByLabel("Password").fill(ada.password);
  await tab.getByRole("button", { name: "Continue" }).click();
  await tab.locator("#who").getByText(ada.email).waitFor();

  await tab.evaluate(async ({ password }) => {
    const session = new client.Session({ url: location.origin });
    const canopy = new client.Canopy(session);
    const { beginPasskey } = await canopy.request<{ beginPasskey: PasskeyQuestion }>("mutation($p: String!) { beginPasskey(input: { password: $p }) { state options } }", { p: password });
    const made = await client.makePasskey(beginPasskey);
    await canopy.request("mutation($i: CreatePasskeyInput!) { createPasskey(input: $i) { passkey { id } } }", { i: { ...made, name: "My phone" } });
  }, ada);
  for (const enter of [() => tab.getByRole("button", { name: "Use a passkey" }).click(), () => byPassword(tab, ada.password)]) {
    await tab.getByRole("button", { name: "Sign out" }).click();
    await tab.getByLabel("E-mail").waitFor();
    await enter();
    await tab.locator("#who").getByText(ada.email).waitFor();
  }
});

/** Gives the address, which comes first. */
async function address(tab: Page, email: string): Promise<void> {
  await tab.getByLabel("E-mail").fill(email);
  await tab.getByRole("button", { name: "Continue" }).click();
}

async function byPassword(tab: Page, password: string): Promise<void> {
  await address(tab, ada.email);
  await tab.getByLabel("Password").fill(password);
  await tab.getByRole("button", { name: "Continue" }).click();
}

/** Fills in the pages of oidc-provider. */
async function atProvider(tab: Page, login: string): Promise<void> {
  await tab.locator("input[name=login]").fill(login);
  await tab.locator("input[name=password]").fill("any");
  await tab.getByRole("button", { name: "Sign-in" }).click();
  await tab.getByRole("button", { name: "Continue" }).click();
}
