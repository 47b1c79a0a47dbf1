import assert from "node:assert/strict";
import test from "node:test";
import type { Page } from "playwright-core";
import { codeOf } from "./codes.js";
import { added, graph, setUp } from "./made.js";
import { accessible, ada, greta, jonas, mira, open, type Person, signIn, url } from "./visit.js";

test("change one's own name, with what is wrong beside its field, and take it back", async (t) => {
  const page = await open(t, { complaints: /status of 400/ });
  await signIn(page, mira, "/console/profile");
  const name = page.getByRole("region", { name: "Your name" });
  await name.getByLabel("First name").fill("www.example.com");
  await name.getByRole("button", { name: "Change the name" }).click();
  await name.locator('[aria-invalid="true"]').waitFor();
  await accessible(page, "name-wrong");
  await name.getByLabel("First name").fill("Miranda");
  await name.getByRole("button", { name: "Change the name" }).click();
  await page.getByText("Saved").waitFor();
  await page.goto(`${url}/console/`);
  await page.getByRole("heading", { name: "Welcome, Miranda" }).waitFor();
  await page.goto(`${url}/console/profile`);
  await name.getByLabel("First name").fill("Mira");
  await name.getByRole("button", { name: "Change the name" }).click();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.waitForFunction(() => [...document.querySelectorAll("input")].some(({ value }) => value === "Miranda"));
});

test("new recovery codes are shown once, and the old ones are void", async (t) => {
  const page = await open(t, { complaints: /status of (400|401)/ });
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const codes = await withSecondFactor(jonas);
  await signInWith(page, jonas, codes[0]!);
  await page.goto(`${url}/console/profile`);
  await page.getByRole("button", { name: "New recovery codes" }).click();
  const dialog = page.getByRole("dialog", { name: "New recovery codes" });
  await dialog.getByLabel("Current password").fill("not the password");
  await dialog.getByRole("button", { name: "New recovery codes" }).click();
  await dialog.getByText("Is wrong").waitFor();
  await accessible(page, "new-codes-wrong");
  await dialog.getByLabel("Current password").fill(jonas.password);
  await dialog.getByRole("button", { name: "New recovery codes" }).click();
  const next = (await dialog.locator("pre").innerText()).trim().split("\n");
  assert.equal(next.length, 10);
  assert.ok(!next.some((code) => codes.includes(code)));
  await accessible(page, "new-codes");
  await dialog.getByRole("button", { name: "Copy" }).click();
  await dialog.getByRole("button", { name: "Copied" }).waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), next.join("\n"));
  await dialog.getByRole("button", { name: "I have kept them" }).click();
  await dialog.waitFor({ state: "detached" });

  await page.getByRole("button", { name: "Account" }).click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByText("You are signed out.").waitFor();
  await signInWith(page, jonas, codes[1]!, false);
  await page.getByText("The code is wrong, or was used already").waitFor();
  await page.getByLabel("Code").fill(next[0]!);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Account" }).waitFor();
});

test("the last owner can neither leave nor be erased, and is told why in words", async (t) => {
  const page = await open(t, { complaints: /status of 400/ });
  await signIn(page, greta, "/console/profile");
  await page.getByRole("button", { name: "Leave Alpine Energy" }).click();
  const leave = page.getByRole("dialog", { name: "Leave Alpine Energy?" });
  await leave.getByText("your API keys").waitFor();
  await accessible(page, "leave");
  await leave.getByRole("button", { name: "Leave" }).click();
  await leave.getByText("You are the last owner of Alpine Energy.").waitFor();
  await accessible(page, "leave-refused");
  await leave.getByRole("button", { name: "Cancel" }).click();

  await page.getByRole("button", { name: "Erase yourself" }).click();
  const erase = page.getByRole("dialog", { name: "Erase yourself for good?" });
  assert.ok(await erase.getByRole("button", { name: "Erase me" }).isDisabled());
  await erase.getByRole("textbox").fill(greta.email);
  await accessible(page, "erase");
  await erase.getByRole("button", { name: "Erase me" }).click();
  await erase.getByText("wherever you are the only one: Alpine Energy").waitFor();
});

test("leave one of two companies, go on in the other, then erase oneself", async (t) => {
  const person = await invited("vera@two.example", ["Alpine Energy", "Brightwater Health"]);
  const page = await open(t, { width: 390, complaints: /status of 401/ });
  await signIn(page, person, "/console/profile");
  await page.getByRole("region", { name: "Your companies" }).getByText("you act for it now").waitFor();
  const here = await page.getByRole("region", { name: "Your companies" }).getByText("you act for it now").locator("..").innerText();
  const other = here.includes("Alpine Energy") ? "Brightwater Health" : "Alpine Energy";
  await page.getByRole("button", { name: new RegExp(`Leave ${other}`) }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Leave" }).click();
  await page.getByText(`You have left ${other}`).waitFor();
  await page.getByRole("button", { name: new RegExp(`Leave ${other}`) }).waitFor({ state: "detached" });
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "the page is wider than the screen");
  await accessible(page, "profile-telephone");

  await page.getByRole("button", { name: "Erase yourself" }).click();
  const erase = page.getByRole("dialog");
  await erase.getByRole("textbox").fill(person.email);
  await erase.getByRole("button", { name: "Erase me" }).click();
  await page.getByText("You are signed out.").waitFor();
  await page.getByText("You are erased.").waitFor();
  await page.getByLabel("E-mail").fill(person.email);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByLabel("Password", { exact: true }).fill(person.password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("The address or the password is wrong").waitFor();
});

for (const application of ["assistant", "builder"]) {
  test(`who has a role in ${application} alone sees their companies and invitations, and can leave`, async (t) => {
    const person = await invited(`${application}@alone.example`, ["Alpine Energy"], { role: "Owner", application });
    await added(ada, person.email, ["Brightwater Health"], { role: "Owner", application });
    const page = await open(t);
    await signIn(page, person, "/console/profile");
    const invitations = page.getByRole("region", { name: "Invitations" });
    await invitations.getByText("Brightwater Health has invited you").waitFor();
    const mine = page.getByRole("region", { name: "Your companies" });
    await mine.getByText("you act for it now").waitFor();
    await accessible(page, `profile-${application}`);
    assert.equal(await page.getByRole("alert").count(), 0);
    await page.getByRole("button", { name: "Company: Alpine Energy" }).click();
    await page.getByRole("treeitem", { name: /Alpine Energy/ }).waitFor();
    await page.keyboard.press("Escape");
    await invitations.getByRole("button", { name: "Accept: Brightwater Health" }).click();
    await mine.getByRole("button", { name: "Leave Brightwater Health" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Leave" }).click();
    await mine.getByRole("button", { name: "Leave Brightwater Health" }).waitFor({ state: "detached" });
  });
}

test("who leaves the company that they act for is signed out there", async (t) => {
  const person = await invited("wim@two.example", ["Alpine Energy", "Brightwater Health"]);
  const page = await open(t, { language: "de-DE", complaints: /status of 401/ });
  await page.goto(`${url}/console/profile`);
  await page.getByLabel("E-Mail").fill(person.email);
  await page.getByRole("button", { name: "Weiter" }).click();
  await page.getByLabel("Passwort", { exact: true }).fill(person.password);
  await page.getByRole("button", { name: "Anmelden" }).click();
  const row = page.getByRole("region", { name: "Ihre Unternehmen" }).getByText("für das handeln Sie jetzt").locator("../..");
  await row.getByRole("button", { name: /verlassen/ }).click();
  await accessible(page, "leave-german");
  // The end of the session is heard before the change is answered.
  const signedOut = page.getByText("Sie sind abgemeldet.");
  await page.route(`${url}/graphql`, async (route) => {
    if (!route.request().postData()?.includes("LeaveCompany")) return route.fallback();
    const response = await route.fetch();
    await signedOut.waitFor();
    return route.fulfill({ response });
  });
  await page.getByRole("dialog").getByRole("button", { name: "Verlassen" }).click();
  await signedOut.waitFor();
  await page.getByText(/^Sie haben .* verlassen\.$/).waitFor();
});

/** Somebody who is a viewer in companies, or what else is asked for, and has a password. */
async function invited(email: string, companies: readonly string[], what?: Parameters<typeof added>[3]): Promise<Person> {
  await added(ada, email, companies, what);
  return setUp(email);
}

/** Turns somebody's authenticator on, and gives the recovery codes. */
async function withSecondFactor(person: Person): Promise<string[]> {
  const { enableTotp: { secret } } = await graph<{ enableTotp: { secret: string } }>(
    person, "mutation($input: EnableTotpInput!) { enableTotp(input: $input) { secret } }", { input: { password: person.password } });
  const { confirmTotp: { recoveryCodes } } = await graph<{ confirmTotp: { recoveryCodes: string[] } }>(
    person, "mutation($input: ConfirmTotpInput!) { confirmTotp(input: $input) { recoveryCodes } }", { input: { code: codeOf(secret) } });
  return recoveryCodes;
}

async function signInWith(page: Page, { email, password }: Person, code: string, taken = true): Promise<void> {
  if (taken) await page.goto(`${url}/console/sign-in`);
  await page.getByLabel("E-mail").fill(email);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByLabel("Code").fill(code);
  await page.getByRole("button", { name: "Sign in" }).click();
  if (taken) await page.getByRole("button", { name: "Account" }).waitFor();
}
