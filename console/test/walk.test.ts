import assert from "node:assert/strict";
import test from "node:test";
import type { Locator, Page } from "playwright-core";
import { added, graph } from "./made.js";
import { ada, greta, linkFor, mira, open, type Person, signIn, url } from "./visit.js";

const nina: Person = { email: "nina@new.example", password: "correct horse battery staple" };

/** Where a screen may be empty and have no first step, as it says why there is none. */
const noStep = ["/console/companies"];

/** Makes a company without anything in it, whose owner sets a password. */
async function begin(page: Page, other: Page) {
  await signIn(page, ada, "/console/companies");
  await page.getByRole("link", { name: "Create a company" }).first().click();
  const form = page.getByRole("region", { name: "Create a company" });
  await form.getByLabel("Name", { exact: true }).fill("Brand New");
  await form.getByLabel("First admin’s e-mail").fill(nina.email);
  await form.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByRole("region", { name: "Brand New" }).waitFor();
  await other.goto(`${url}/console/set-password${new URL(await linkFor(nina.email)).hash}`);
  await other.getByLabel("New password", { exact: true }).fill(nina.password);
  await other.getByLabel("New password, again").fill(nina.password);
  await other.getByRole("button", { name: "Set your password" }).click();
  await other.getByRole("button", { name: "Account" }).waitFor();
}

/** Opens a screen, and waits until it has said what there is. */
async function show(page: Page, path: string): Promise<Locator> {
  await page.goto(url + path);
  const main = page.getByRole("main");
  await main.locator(":is([role=listbox], [role=tree], table, .empty, li)").filter({ visible: true }).first().waitFor();
  await main.locator(":is(.mantine-Skeleton-root, .mantine-Loader-root, [aria-busy=true])").first().waitFor({ state: "detached" });
  return main;
}

const hrefs = (links: Locator) => links.evaluateAll((all) => all.map((link) => link.getAttribute("href")!));

/** Every screen that the menu leads to, and those beside them. */
async function screens(page: Page): Promise<string[]> {
  const found = new Set<string>();
  for (const path of await hrefs(page.locator(".mantine-AppShell-navbar a"))) {
    const main = await show(page, path);
    const beside = await hrefs(main.locator("nav.lists a"));
    for (const one of beside.length > 0 ? beside : [path]) found.add(one);
  }
  return [...found];
}

/** Each empty place says what is missing, what that is good for, and leads to the first step. */
async function teaches(main: Locator, path: string): Promise<number> {
  const places = await main.locator(".empty").all();
  for (const place of places) {
    assert.notEqual((await place.getByRole("heading").innerText()).trim(), "", path);
    assert.notEqual((await place.locator("p").first().innerText()).trim(), "", path);
    if (!noStep.includes(path)) assert.ok((await place.locator("a, button").count()) > 0, `${path} is empty, and leads nowhere`);
  }
  return places.length;
}

/** What can be clicked on a screen can be reached by keyboard, past the menu. */
async function byKeyboard(page: Page, path: string) {
  await page.locator("a.skip").focus();
  await page.keyboard.press("Enter");
  const wanted = await page.evaluate(() => {
    const all = [...document.querySelectorAll<HTMLElement>("main :is(a[href], button, input, select, textarea, [role=listbox], [role=tree])")]
      .filter((one) => one.tabIndex >= 0 && one.checkVisibility() && !one.matches(":disabled, [type=radio]"));
    all.forEach((one, index) => (one.dataset.stop = String(index)));
    return all.length;
  });
  const reached = new Set<string>();
  for (let tabs = 0; tabs < wanted + 20 && reached.size < wanted; tabs++) {
    await page.keyboard.press("Tab");
    const stop = await page.evaluate(() => (document.activeElement as HTMLElement | null)?.dataset.stop);
    if (stop !== undefined) reached.add(stop);
  }
  assert.equal(reached.size, wanted, `${path}: by keyboard`);
}

test("a new company: every screen says what is missing, and leads to the first step", async (t) => {
  const page = await open(t);
  await begin(await open(t), page);
  let empty = 0;
  const all = await screens(page);
  for (const path of all) {
    const main = await show(page, path);
    assert.equal(await main.getByRole("heading", { level: 1 }).count(), 1, path);
    empty += await teaches(main, path);
    await byKeyboard(page, path);
    const find = main.getByRole("searchbox");
    if ((await find.count()) === 0) continue;
    await find.fill("zzqqxx");
    const none = main.locator(".empty", { has: page.getByRole("button") });
    await none.waitFor();
    await none.getByRole("button").click();
    await none.waitFor({ state: "detached" });
    await page.waitForFunction((input) => (input as HTMLInputElement).value === "", await find.elementHandle()); // the box follows the address
  }
  assert.ok(all.length >= 12 && empty >= 7, `${all.join()}: ${empty}`);

  // On a telephone, in German.
  const phone = await open(t, { width: 390, language: "de-DE" });
  await phone.goto(`${url}/console/`);
  await phone.getByLabel("E-Mail").fill(nina.email);
  await phone.getByRole("button", { name: "Weiter" }).click();
  await phone.getByLabel("Passwort", { exact: true }).fill(nina.password);
  await phone.getByRole("button", { name: "Anmelden" }).click();
  await phone.waitForURL((at) => !at.pathname.includes("sign-in"));
  for (const path of all) {
    await teaches(await show(phone, path), path);
    assert.equal(await phone.evaluate(() => document.documentElement.scrollWidth > innerWidth), false, `${path} is wider than the window`);
  }
});

/** The addresses of all screens that somebody signs in for, as the console's own list has them; each names the first of its kind, or what is in one's own company. */
const addresses = (page: Page, own: { company: number; person: number }): Promise<string[]> => page.evaluate(({ company, person }) => {
  const { routesByPath } = (window as unknown as { __TSR_ROUTER__: { routesByPath: Record<string, { id: string }> } }).__TSR_ROUTER__;
  return Object.entries(routesByPath).filter(([, { id }]) => id.startsWith("/inside")).map(([path]) => path.replace("$companyId", String(company)).replace("$personId", String(person)).replace(/\$\w+/g, "1"));
}, own);

test("every address: who lacks the right for it is told so, and the platform is not asked for what it refuses", async (t) => {
  const { me } = await graph<{ me: Record<"customer" | "user", { databaseId: number }> }>(greta, "{ me { customer { databaseId } user { databaseId } } }", {});
  await added(greta, "tim@alpine.example", ["Alpine Energy"]);
  await added(greta, "asa@alpine.example", ["Alpine Energy"], { application: "assistant" });
  await added(greta, "bea@alpine.example", ["Alpine Energy"], { application: "builder" });
  for (const email of ["tim@alpine.example", "asa@alpine.example", "bea@alpine.example", mira.email]) {
    const page = await open(t, { complaints: /status of 404/ });
    if (email === mira.email) await signIn(page, mira);
    else {
      await page.goto(`${url}/console/set-password${new URL(await linkFor(email)).hash}`);
      await page.getByLabel("New password", { exact: true }).fill(nina.password);
      await page.getByLabel("New password, again").fill(nina.password);
      await page.getByRole("button", { name: "Set your password" }).click();
      await page.getByRole("button", { name: "Account" }).waitFor();
    }
    let at = "";
    const refused: string[] = [];
    const asks: Promise<void>[] = [];
    page.on("response", (response) => {
      const path = at;
      if (!response.url().endsWith("/graphql")) return;
      asks.push(response.text().catch(() => "").then((answer) => void (answer.includes('"FORBIDDEN"') && refused.push(`${path}: ${response.request().postData()?.slice(10, 60)}`))));
    });
    const all = await addresses(page, { company: me.customer.databaseId, person: me.user.databaseId });
    assert.ok(all.length > 50, all.join());
    let lacking = 0;
    for (at of all) {
      await page.evaluate((to) => (window as unknown as { __TSR_ROUTER__: { navigate: (to: object) => Promise<void> } }).__TSR_ROUTER__.navigate({ to }), at);
      const main = page.getByRole("main");
      await main.getByRole("heading", { level: 1 }).first().waitFor();
      await main.locator(":is(.mantine-Skeleton-root, .mantine-Loader-root, [aria-busy=true])").first().waitFor({ state: "detached" });
      if ((await main.getByText("You are not allowed to do this").count()) > 0) refused.push(`${at} says so`);
      lacking += await main.getByRole("heading", { level: 1, name: "Not for you" }).count();
    }
    await Promise.all(asks);
    assert.deepEqual(refused, [], email);
    assert.ok(lacking > 10, `${email}: ${lacking}`);
  }
});
