// The page of docs/frontend.md, as a person uses it.
import assert from "node:assert/strict";
import test from "node:test";
import { openFor, setting } from "../browser.js";

test("the page of the guide", async (t) => {
  const email = setting("EMAIL");
  // A wrong password is refused; and a browser asks for an icon, which the page has not.
  const page = await openFor(t, [setting("URL"), setting("PAGE")], { complaints: /status of 40[14]/ });
  const button = (name: string) => page.getByRole("button", { name, exact: true });
  const company = (name: string) => page.locator("summary").getByText(name, { exact: true });
  await page.goto(setting("PAGE"));
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password").fill("not the password");
  await button("Sign in").click();
  await page.getByRole("alert").getByText("password is wrong").waitFor();
  await page.getByLabel("Password").fill(setting("PASSWORD"));
  await button("Sign in").click();
  await page.locator("#inside").waitFor();
  await page.reload();
  await page.locator("#inside").waitFor();
  assert.equal(await page.locator("#who").innerText(), email);

  await company("Northwind Group").click();
  await company("Alpine Energy").click();
  await company("Alpine Hydro").waitFor();

  await page.getByLabel("Upload").setInputFiles(setting("DOCUMENT"));
  await page.getByRole("listitem").getByText("shift-rules.docx: ready", { exact: true }).waitFor();
  await page.waitForFunction(() => document.querySelector("progress")!.value === 1);

  await button("Run").click();
  await page.locator("output", { hasText: "finished (greeting)" }).filter({ hasText: "Hello Ada" }).waitFor();
  await button("Sign out").click();
  await page.locator("#sign-in").waitFor();
});
