import assert from "node:assert/strict";
import test from "node:test";
import type { Dialog } from "playwright-core";
import { codeOf } from "./codes.js";
import { added, graph } from "./made.js";
import { setting } from "./browser.js";
import { accessible, ada, greta, jonas, linkFor, mira, open, signIn, url } from "./visit.js";

const refused = /status of (401|403)/;

test("sign in, go where one wanted to, and out again", async (t) => {
  const page = await open(t, { complaints: refused });
  await page.goto(`${url}/`); // leads to the console
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await accessible(page, "sign-in");
  await page.getByLabel("E-mail").fill(ada.email);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByLabel("Password", { exact: true }).fill("not the password");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").getByText("The address or the password is wrong").waitFor();
  await accessible(page, "sign-in-wrong");

  await signIn(page, ada, "/console/people?find=greta");
  await page.getByRole("heading", { name: "People" }).waitFor();
  assert.equal(new URL(page.url()).search, "?find=greta");
  // A new page of the same browser is signed in.
  await page.goto(`${url}/console/`);
  await page.getByRole("heading", { name: "Welcome, Ada" }).waitFor();
  await accessible(page, "home");

  await page.getByRole("button", { name: "Account" }).click();
  await accessible(page, "account");
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByText("You are signed out.").waitFor();
  await page.goto(`${url}/console/people`);
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
});

test("reset a password, and set a new one by the link", async (t) => {
  const page = await open(t, { complaints: /status of 400/ });
  await page.goto(`${url}/console/sign-in`);
  await page.getByLabel("E-mail").fill(mira.email);
  await page.getByRole("button", { name: "Use your password" }).click();
  await page.getByRole("link", { name: "Forgot your password?" }).click();
  await page.getByRole("heading", { name: "Reset your password" }).waitFor();
  assert.equal(await page.getByLabel("E-mail").inputValue(), mira.email, "what was typed before is kept");
  await page.getByRole("link", { name: "Back to sign-in" }).click();
  assert.equal(await page.getByLabel("E-mail").inputValue(), mira.email);
  await page.getByRole("button", { name: "Use your password" }).click();
  await page.getByRole("link", { name: "Forgot your password?" }).click();
  await accessible(page, "reset");
  await page.getByRole("button", { name: "Send the link" }).click();
  await page.getByText("a link is on its way").waitFor();
  await page.getByRole("note").getByText(setting("MAILS")).waitFor(); // nobody is sent a mail here
  await accessible(page, "reset-sent");

  const link = new URL(await linkFor(mira.email));
  await page.goto(link.href);
  assert.equal(await page.getByLabel("E-mail").inputValue(), mira.email);
  await page.getByLabel("New password", { exact: true }).fill("short");
  await page.getByRole("button", { name: "Set your password" }).click();
  await page.getByText("The password needs at least 10 characters").waitFor();
  await accessible(page, "set-password");
  assert.equal(new URL(page.url()).hash, "", "the token stays in the address");
  const next = "correct horse battery staple";
  await page.getByLabel("New password", { exact: true }).fill(next);
  await page.getByLabel("New password, again").fill(`${next}!`);
  await page.getByRole("button", { name: "Set your password" }).click();
  await page.getByText("The two passwords are not the same").waitFor();
  await page.getByLabel("New password, again").fill(next);
  await page.getByRole("button", { name: "Set your password" }).click();
  await page.getByRole("heading", { name: "Welcome, Mira" }).waitFor(); // it signs in

  // The link works once.
  const later = await open(t, { complaints: /status of 400/ });
  await later.goto(link.href);
  await later.getByText("This link is not known, was used already, or has expired.").waitFor();
  await accessible(later, "set-password-bad");
  await signIn(later, { email: mira.email, password: next });
  mira.password = next;
});

test("two-factor: on, by its code, by a recovery code, off", async (t) => {
  const page = await open(t, { complaints: refused });
  await signIn(page, jonas, "/console/profile");
  await page.getByText("this one").waitFor();
  await accessible(page, "profile");
  const address = page.getByRole("region", { name: "Change the address" });
  await address.getByLabel("New address").fill("jonas@elsewhere.example");
  await address.getByLabel("Current password").fill(jonas.password);
  await address.getByRole("button", { name: "Change the address" }).click();
  await address.getByText("Both addresses are sent a link.").waitFor();
  assert.notEqual(await linkFor(jonas.email, "email="), await linkFor("jonas@elsewhere.example", "email="));
  await page.getByRole("button", { name: "Turn on" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Current password").fill(jonas.password);
  await dialog.getByRole("button", { name: "Turn on" }).click();
  const secret = await dialog.locator("code").innerText();
  await dialog.getByRole("img", { name: "The secret as a QR code" }).waitFor();
  await page.waitForFunction(() => document.activeElement?.getAttribute("autocomplete") === "one-time-code"); // it can be typed at once
  await page.keyboard.type(codeOf(secret));
  await accessible(page, "two-factor");
  await dialog.getByRole("button", { name: "Confirm" }).click();
  await dialog.getByText("Recovery codes").waitFor();
  await page.waitForFunction(() => document.activeElement?.tagName === "PRE"); // and not outside of the dialog
  await accessible(page, "recovery-codes");
  const recovery = (await dialog.locator("pre").innerText()).trim().split("\n");
  assert.equal(recovery.length, 10);
  // They are shown this once: neither Escape nor the button loses them without a question.
  const asked: string[] = [];
  const answer = (question: Dialog) => void (asked.push(question.message()), question.dismiss());
  page.on("dialog", answer);
  await page.keyboard.press("Escape");
  await dialog.getByRole("button", { name: "Close" }).click();
  page.off("dialog", answer);
  assert.equal(asked.filter((question) => question.startsWith("This is shown this once")).length, 2);
  assert.equal((await dialog.locator("pre").innerText()).trim(), recovery.join("\n"));
  await dialog.getByRole("button", { name: "I have kept them" }).click();
  await page.getByText("On: signing in takes a code").waitFor();

  for (const code of [codeOf(secret, 1), recovery[0]!]) {
    await page.getByRole("button", { name: "Account" }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByText("You are signed out.").waitFor();
    await page.getByLabel("E-mail").fill(jonas.email);
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByLabel("Password", { exact: true }).fill(jonas.password);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByLabel("Code").fill("000000");
    assert.equal(await page.getByRole("button", { name: "Use a passkey" }).count(), 0); // there is none
    await accessible(page, "code");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("The code is wrong, or was used already").waitFor();
    await page.getByLabel("Code").fill(code);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: "Account" }).waitFor();
  }
  await page.goto(`${url}/console/profile`);
  await page.getByRole("button", { name: "Turn off" }).click();
  await page.getByRole("dialog").getByLabel("Current password").fill(jonas.password);
  await page.getByRole("dialog").getByLabel("Code").fill(recovery[1]!);
  await page.getByRole("dialog").getByRole("button", { name: "Turn off" }).click();
  await page.getByText("Off: your password alone signs you in.").waitFor();
});

test("a session that was ended elsewhere says so, and one comes back to where one was", async (t) => {
  const here = await open(t, { complaints: refused });
  const there = await open(t);
  await signIn(here, greta, "/console/people");
  await signIn(there, greta, "/console/profile");
  await there.getByRole("button", { name: "End all others" }).click();
  await there.getByRole("button", { name: "End all others" }).waitFor({ state: "detached" });
  await here.getByText("Your session has ended").waitFor(); // without a click
  await accessible(here, "ended");
  await here.getByLabel("E-mail").fill(greta.email);
  await here.getByRole("button", { name: "Continue" }).click();
  await here.getByLabel("Password", { exact: true }).fill(greta.password);
  await here.getByRole("button", { name: "Sign in" }).click();
  await here.getByRole("heading", { name: "People" }).waitFor();
});

test("a change that would end the session and is never answered does not explain its end later on", async (t) => {
  const page = await open(t, { complaints: refused });
  await signIn(page, greta, "/console/profile");
  await page.route("**/graphql", async (route) => {
    if (!route.request().postData()?.includes("leaveCustomer")) await route.continue();
  });
  await page.getByRole("button", { name: "Leave Alpine Energy" }).click();
  const asked = page.waitForRequest((request) => request.postData()?.includes("leaveCustomer") ?? false);
  await page.getByRole("dialog").getByRole("button", { name: "Leave" }).click();
  await asked;
  await page.clock.setSystemTime(Date.now() + 61_000);
  await graph(greta, "mutation { revokeOtherSessions(input: { includeCurrent: true }) { sessions { id } } }", {});
  await page.getByText("Your session has ended").waitFor();
});

test("what one may do changes while one looks", async (t) => {
  const page = await open(t);
  await signIn(page, mira);
  const menu = page.getByRole("navigation", { name: "Main" });
  const agents = menu.getByRole("link", { name: "Agents" });
  await agents.waitFor();
  const other = await open(t);
  await signIn(other, greta, "/console/people");
  await other.getByRole("listbox", { name: "People" }).getByRole("option", { name: /Mira Vogel/ }).click();
  const rights = other.getByRole("region", { name: "What they may do, and why" });
  for (const application of ["Agent builder", "Assistant"]) await rights.getByRole("button", { name: new RegExp(`^Turn off: Viewer in ${application} of`) }).click();
  await agents.waitFor({ state: "detached" });
  for (const application of ["Agent builder", "Assistant"]) await rights.getByRole("button", { name: new RegExp(`^Turn on: Viewer in ${application} of`) }).click();
  for (const name of ["Agents", "Contexts"]) await menu.getByRole("link", { name }).waitFor();
});

test("what is typed stays, and says why it can't be sent, when a right for it is taken away", async (t) => {
  const page = await open(t);
  await signIn(page, jonas, "/console/people/invite");
  const panel = page.getByRole("region", { name: "Invite people" });
  const addresses = panel.getByLabel("Who", { exact: true });
  await addresses.fill("one@new.example");
  const other = await open(t);
  await signIn(other, greta, "/console/people");
  await other.getByRole("listbox", { name: "People" }).getByRole("option", { name: /Jonas/ }).click();
  const rights = other.getByRole("region", { name: "What they may do, and why" });
  await rights.getByRole("button", { name: /^Turn off: Admin in Tenant management of/ }).click();
  const lost = page.getByRole("alert").filter({ hasText: "You may no longer save this" });
  await lost.getByText("user.write").waitFor();
  assert.equal(await addresses.inputValue(), "one@new.example");
  await accessible(page, "right-lost");
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Home" }).click();
  await lost.waitFor({ state: "detached" }); // there is nothing left to lose
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "People" }).waitFor({ state: "detached" });
  await rights.getByRole("button", { name: /^Turn on: Admin in Tenant management of/ }).click();
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "People" }).waitFor();
});

test("what somebody has typed is nobody else's to send, and goes with a sign-out in any tab", async (t) => {
  const page = await open(t, { complaints: /status of 401/ });
  await signIn(page, greta, "/console/people/invite");
  const panel = page.getByRole("region", { name: "Invite people" });
  await panel.getByLabel("Who", { exact: true }).fill("one@new.example");
  const other = await open(t);
  await signIn(other, greta, "/console/profile");
  await other.getByRole("button", { name: "End all others" }).click();
  const ended = page.getByRole("alert").filter({ hasText: "Your session has ended" });
  await ended.waitFor();
  const [beside] = await Promise.all([page.context().waitForEvent("page"), ended.getByRole("link", { name: "Sign in in another tab" }).click()]);
  await signIn(beside, jonas);
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  const refreshed = page.waitForResponse((response) => response.url().endsWith("/auth/session/refresh"));
  await panel.getByRole("button", { name: "Invite 1 person" }).click();
  await refreshed;
  await panel.getByRole("alert").first().waitFor();
  assert.deepEqual(asked.filter((path) => path === "/graphql"), [], "sent as somebody else");
  await ended.getByRole("button", { name: "Go on here" }).click();
  await page.getByRole("heading", { name: "Welcome, Jonas" }).waitFor(); // who begins at the first page

  await page.goto(`${url}/console/people/invite`);
  await panel.getByLabel("Who", { exact: true }).fill("two@new.example");
  await beside.getByRole("button", { name: "Account" }).click();
  await beside.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor(); // without a click
  assert.equal(await panel.count(), 0);
});

test("a token that runs out is renewed unseen", async (t) => {
  const page = await open(t);
  let renewals = 0;
  await page.route("**/auth/session**", async (route) => {
    if (route.request().url().endsWith("/refresh")) renewals++;
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), expiresIn: 1 } });
  });
  await signIn(page, ada);
  for (const name of ["Companies", "People", "Companies"]) {
    const before = renewals;
    await page.waitForTimeout(1000); // the token's life
    await page.getByRole("link", { name, exact: true }).first().click();
    await page.getByRole("heading", { name }).waitFor();
    await page.getByText("Alpine").first().waitFor();
    assert.ok(renewals > before || name === "Companies", "nothing was renewed");
  }
  assert.ok(renewals >= 2, `${renewals} renewals`);
});

test("one's language, theme and company", async (t) => {
  const page = await open(t, { language: "de-DE" });
  await page.goto(`${url}/console/`);
  await page.getByRole("button", { name: "Anmelden" }).waitFor();
  assert.equal(await page.locator("html").getAttribute("lang"), "de");
  await page.getByLabel("E-Mail").fill(ada.email);
  await page.getByRole("button", { name: "Weiter" }).click();
  await page.getByLabel("Passwort", { exact: true }).fill(ada.password);
  await page.getByRole("button", { name: "Anmelden" }).click();
  await page.getByRole("heading", { name: "Willkommen, Ada" }).waitFor();
  await page.getByRole("button", { name: "Konto" }).click();
  await page.getByText("Dunkel").click();
  await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
  await page.getByLabel("Sprache").selectOption("en");
  await page.getByRole("heading", { name: "Welcome, Ada" }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "Welcome, Ada" }).waitFor();
  await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
  await page.getByRole("button", { name: "Company: Northwind Group" }).click();
  await page.getByRole("treeitem", { name: /Northwind Group.*✓/ }).waitFor();
});

test("the companies of the switcher: a tree by keyboard, found by typing, on a telephone, too", async (t) => {
  await added(ada, greta.email, ["Brightwater Health"]);
  const page = await open(t);
  await signIn(page, greta);
  await page.getByRole("button", { name: "Company: Alpine Energy" }).click();
  const dialog = page.getByRole("dialog", { name: "Your companies" });
  const tree = dialog.getByRole("tree", { name: "Your companies" });
  await tree.getByRole("treeitem", { name: /^Alpine Energy.*Owner.*✓$/ }).waitFor();
  assert.equal(await tree.getByRole("treeitem", { selected: true }).innerText().then((name) => name.includes("Alpine Energy")), true);
  const below = tree.getByRole("treeitem", { name: /^Alpine Solar/ });
  await below.waitFor(); // what stands below it is loaded as it opens
  assert.equal(await below.getAttribute("aria-level"), "2");
  await accessible(page, "companies-tree");
  await page.keyboard.press("ArrowDown"); // from the box into the tree
  await page.keyboard.press("ArrowLeft");
  await below.waitFor({ state: "detached" });
  await page.keyboard.press("ArrowRight");
  await below.waitFor();
  await page.keyboard.type("bright"); // who types looks for a name
  assert.equal(await dialog.getByRole("searchbox").inputValue(), "bright");
  await dialog.getByRole("option", { name: /Brightwater Health.*Viewer/ }).waitFor();
  await accessible(page, "companies-tree-found");
  await dialog.getByRole("searchbox").fill("zzqq");
  await dialog.getByRole("status").waitFor();
  await dialog.getByRole("searchbox").fill("solar");
  await dialog.getByRole("option", { name: /Alpine Solar/ }).click();
  await page.getByRole("region", { name: "Alpine Solar" }).waitFor(); // one is no member of it: it is looked at
  const phone = await open(t, { width: 390 });
  await signIn(phone, greta);
  await phone.getByRole("button", { name: "Company: Alpine Energy" }).click();
  const box = (await phone.getByRole("dialog", { name: "Your companies" }).boundingBox())!;
  assert.ok(box.x >= 0 && box.x + box.width <= 390, JSON.stringify(box));
  await accessible(phone, "companies-tree-telephone");
  await phone.getByRole("treeitem", { name: /Brightwater Health/ }).click();
  await phone.getByRole("button", { name: "Company: Brightwater Health" }).waitFor();
});

test("the address comes first, and the password where no company has a sign-in of its own for it", async (t) => {
  const page = await open(t);
  await page.goto(`${url}/console/sign-in`);
  await page.getByLabel("E-mail").fill("somebody@unknown.example");
  assert.equal(await page.getByLabel("Password", { exact: true }).count(), 0);
  await page.keyboard.press("Enter");
  await page.getByLabel("Password", { exact: true }).fill("a password of hers");
  await accessible(page, "sign-in-password");
  await page.getByLabel("E-mail").fill("other@unknown.example");
  await page.getByLabel("Password", { exact: true }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Use your password" }).click();
  await page.getByRole("link", { name: "Forgot your password?" }).waitFor();
  await page.goto(`${url}/console/sign-in?sso=sso_waiting`);
  await page.getByRole("alert").getByText("You are known now, and have no access yet").waitFor();
  await accessible(page, "sign-in-waiting");
  await page.goto(`${url}/console/sign-in?sso=FORBIDDEN`);
  await page.getByRole("alert").getByText("You may do nothing here yet").waitFor();
});
