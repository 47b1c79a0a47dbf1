import assert from "node:assert/strict";
import test from "node:test";
import type { Page } from "playwright-core";
import { device } from "./authenticator.js";
import { openFor } from "./browser.js";
import { accessible, greta, open, signIn, sofia, url } from "./visit.js";

const refused = /status of (400|401)/;

test("a passkey: made, alone, beside the password, given up, renamed, and removed", async (t) => {
  const page = await open(t, { complaints: refused });
  const phone = await device(page);
  await signIn(page, greta, "/console/profile");
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await accessible(page, "passkey-add");
  const recovery = await add(page, "My phone", greta.password);
  assert.equal(recovery.length, 10);
  await page.getByText("My phone").waitFor();
  await page.getByText("backed up").waitFor();
  await page.getByText("beside your password one of your passkeys is asked for").waitFor();
  await accessible(page, "passkeys");
  const [kept] = await phone.kept();
  assert.equal(kept!.rpId, "localhost");
  assert.ok(kept!.isResidentCredential);

  await t.test("the device has one already", async () => {
    await page.getByRole("button", { name: "Add a passkey" }).click();
    await fill(page, "Again", greta.password);
    await page.getByText("This device has a passkey of yours already").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
  });
  await t.test("alone", async () => {
    await signOut(page);
    await accessible(page, "sign-in-passkeys");
    await page.getByRole("button", { name: "Use a passkey" }).click();
    await page.getByRole("button", { name: "Account" }).waitFor();
  });
  await t.test("beside the password", async () => {
    await signOut(page);
    await byPassword(page);
    await page.getByText("Confirm with a passkey").waitFor();
    await accessible(page, "passkey-second");
    await page.getByRole("button", { name: "Use a passkey" }).click();
    await page.getByRole("button", { name: "Account" }).waitFor();
  });
  await t.test("nobody gives the finger, and a recovery code does", async () => {
    await signOut(page);
    await phone.away(true);
    await byPassword(page);
    await page.getByRole("button", { name: "Use a passkey" }).click();
    await page.getByText("Nothing has come from your device").waitFor();
    await accessible(page, "passkey-given-up");
    await page.getByRole("button", { name: "Use a code" }).click();
    await page.getByLabel("Code").fill(recovery[0]!);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: "Account" }).waitFor();
    await phone.away(false);
  });
  await t.test("renamed, removed, and refused from then on", async () => {
    await page.goto(`${url}/console/profile`);
    await page.getByRole("button", { name: "Rename My phone" }).click();
    await page.getByRole("dialog").getByLabel("Name").fill("My old phone");
    await page.getByRole("dialog").getByRole("button", { name: "Rename" }).click();
    await page.getByRole("button", { name: "Remove My old phone" }).click();
    await page.getByRole("dialog").getByLabel("Current password").fill("not the password");
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await page.getByText("Is wrong").waitFor();
    await accessible(page, "passkey-remove");
    await page.getByRole("dialog").getByLabel("Current password").fill(greta.password);
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await page.getByText("My old phone", { exact: true }).waitFor({ state: "detached" });
    await page.getByText("Off: your password alone signs you in.").waitFor();
    await signOut(page);
    await page.getByRole("button", { name: "Use a passkey" }).click();
    await page.getByText("This passkey is not known here").waitFor();
    await accessible(page, "passkey-refused");
    await byPassword(page);
    await page.getByRole("button", { name: "Account" }).waitFor();
  });
});

test("an answer works once, on pages of the platform alone, and a copy of the passkey is found out", async (t) => {
  const page = await open(t, { complaints: refused });
  const phone = await device(page);
  await signIn(page, sofia, "/console/profile");
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await add(page, "Phone", sofia.password);
  await signOut(page);
  const [answered] = await Promise.all([
    page.waitForRequest((request) => request.url().endsWith("/auth/session/passkey")),
    page.getByRole("button", { name: "Use a passkey" }).click(),
  ]);
  await page.getByRole("button", { name: "Account" }).waitFor();
  const again = await fetch(`${url}/auth/session/passkey`, { method: "POST", headers: { "content-type": "application/json" }, body: answered.postData()! });
  assert.equal(again.status, 400);
  assert.equal(((await again.json()) as { code: string }).code, "passkey_state");

  const [kept] = await phone.kept();
  await t.test("a page of another host", async (t) => {
    const other = url.replace("localhost", "127.0.0.1");
    const elsewhere = await openFor(t, [url, other], { complaints: refused });
    await (await device(elsewhere)).put(kept!);
    await elsewhere.goto(`${other}/console/sign-in`);
    await elsewhere.getByRole("button", { name: "Use a passkey" }).click();
    await elsewhere.getByText("Passkeys don’t work at this address").waitFor();
  });
  await t.test("a copy whose counter is behind", async (t) => {
    const thief = await open(t, { complaints: refused });
    await (await device(thief)).put({ ...kept!, signCount: 0 });
    await thief.goto(`${url}/console/sign-in`);
    await thief.getByRole("button", { name: "Use a passkey" }).click();
    await thief.getByText("This passkey is not known here, or its answer was not taken").waitFor();
  });
});

async function fill(page: Page, name: string, password: string): Promise<void> {
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill(name);
  await dialog.getByLabel("Current password").fill(password);
  await dialog.getByRole("button", { name: "Continue" }).click();
}

/** Makes a person's first passkey, and gives the recovery codes. */
async function add(page: Page, name: string, password: string): Promise<string[]> {
  await fill(page, name, password);
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Recovery codes").waitFor();
  const codes = (await dialog.locator("pre").innerText()).trim().split("\n");
  await dialog.getByRole("button", { name: "I have kept them" }).click();
  return codes;
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Account" }).click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByText("You are signed out.").waitFor();
}

async function byPassword(page: Page): Promise<void> {
  await page.getByLabel("E-mail").fill(greta.email);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByLabel("Password", { exact: true }).fill(greta.password);
  await page.getByRole("button", { name: "Sign in" }).click();
}
