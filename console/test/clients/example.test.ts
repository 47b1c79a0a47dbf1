// The page of examples/page, as a person uses it.
import assert from "node:assert/strict";
import test from "node:test";
import { keep, openFor, setting } from "../browser.js";

test("the page of examples", async (t) => {
  const email = setting("EMAIL");
  const page = await openFor(t, [setting("URL"), setting("PAGE")], { complaints: /status of 401/ });
  const signIn = async (password: string) => {
    await page.getByLabel("E-mail").fill(email);
    await page.getByLabel("Password").fill(password);
    await page.getByRole("button", { name: "Sign in" }).click();
  };
  const company = (name: string) => page.locator("summary").getByText(name, { exact: true });
  await page.goto(setting("PAGE"));
  await signIn("not the password");
  await page.getByRole("alert").getByText("the password is wrong").waitFor();

  await signIn(setting("PASSWORD"));
  await company("Northwind Group").click();
  await company("Alpine Energy").click();
  await page.locator("li > div").getByText("Alpine Hydro", { exact: true }).waitFor();
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await keep(page, `example-page-${colorScheme}`);
  }
  const tree = await page.locator("#tree").innerText();
  assert.match(tree, /Alpine Energy 4 people/);
  assert.doesNotMatch(tree, /Brightwater Labs/);
  assert.match(await page.locator("#companies p").innerText(), new RegExp(`Signed in as ${email}`));

  await page.reload();
  await company("Northwind Group").waitFor(); // the session is still there
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.locator("#sign-in").waitFor();
  await page.locator("#companies").waitFor({ state: "hidden" });
});
