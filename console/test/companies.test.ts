import assert from "node:assert/strict";
import test from "node:test";
import { graph } from "./made.js";
import { accessible, ada, greta, mira, open, signIn, url } from "./visit.js";

test("the tree by keyboard, one company beside it, and the way to it", async (t) => {
  const page = await open(t);
  await signIn(page, ada, "/console/companies");
  const tree = page.getByRole("tree", { name: "Tree of companies" });
  await tree.getByRole("treeitem", { name: "Dune Retail" }).waitFor();
  await accessible(page, "companies");
  await tree.focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight"); // opens Alpine Energy
  await tree.getByRole("treeitem", { name: "Alpine Solar" }).waitFor();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  const panel = page.getByRole("region", { name: "Alpine Hydro" });
  await panel.getByRole("link", { name: "Alpine Energy" }).waitFor();
  await panel.getByLabel("Name", { exact: true }).waitFor();
  await accessible(page, "company");
  await page.keyboard.press("Escape");
  await panel.waitFor({ state: "detached" });
  await page.waitForFunction(() => document.activeElement?.getAttribute("role") === "tree"); // one goes on in it
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft"); // closes it
  await tree.getByRole("treeitem", { name: "Alpine Solar" }).waitFor({ state: "detached" });

  // An address shows the same to whoever is sent it: the way down is open.
  const [{ databaseId }] = await companies("Harbour Robotics");
  await page.goto(`${url}/console/companies/${databaseId}`);
  await tree.getByRole("treeitem", { name: "Harbour Robotics", selected: true }).waitFor();

  async function companies(search: string): Promise<[{ databaseId: number }]> {
    const answer = page.waitForResponse(async (response) => (await response.text().catch(() => "")).includes(search));
    await page.getByRole("searchbox", { name: "Find by name" }).fill("harbour");
    const { data } = (await (await answer).json()) as { data: { customers: { nodes: [{ databaseId: number }] } } };
    await page.getByRole("listbox", { name: "Companies found" }).getByRole("option", { name: search }).waitFor();
    await accessible(page, "companies-found");
    return data.customers.nodes;
  }
});

test("create a company, with what is wrong beside its field, and change it", async (t) => {
  const page = await open(t, { complaints: /status of 400/ });
  await signIn(page, ada, "/console/companies");
  await page.getByRole("treeitem", { name: "Dune Retail" }).click();
  await page.getByRole("region", { name: "Dune Retail" }).getByLabel("Name", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Create a company" }).first().click();
  const panel = page.getByRole("region", { name: "Create a company" });
  await panel.getByText("It will be below Dune Retail.").waitFor();
  await accessible(page, "company-create");
  await panel.getByLabel("Name", { exact: true }).fill("Dune Online");
  await panel.getByRole("button", { name: "Create" }).click();
  await panel.getByText("Is required").waitFor(); // where it stands, and not in a bubble of the browser's
  await panel.getByLabel("First admin’s e-mail").fill("mo@dune-online.example");
  await panel.getByLabel("First name").fill("www.example.com");
  await panel.getByRole("button", { name: "Create" }).click();
  await panel.locator('[aria-invalid="true"]').waitFor();
  await panel.getByLabel("First name").fill("Mo");
  await panel.getByRole("button", { name: "Create" }).click();
  const details = page.getByRole("region", { name: "Dune Online" });
  await details.getByRole("link", { name: "Dune Retail" }).waitFor();
  await page.getByRole("treeitem", { name: "Dune Online" }).waitFor(); // the tree has heard of it
  const { customers: { nodes: [online] } } = await graph<{ customers: { nodes: { users: { nodes: { name: string }[] } }[] } }>(
    ada, '{ customers(filter: { search: "Dune Online" }) { nodes { users { nodes { name } } } } }', {});
  assert.deepEqual(online!.users.nodes, [{ name: "Mo" }]); // and is not called like the company
  await details.getByLabel("Name", { exact: true }).fill("Dune Web");
  await details.getByRole("button", { name: "Save" }).click();
  await page.getByRole("treeitem", { name: "Dune Web" }).waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("treeitem", { name: "Dune Online" }).waitFor();
  await page.waitForFunction(() => [...document.querySelectorAll("input")].some(({ value }) => value === "Dune Online"));
});

test("a new company: what there is of what may be above it, and what a flag does", async (t) => {
  const { customers: { nodes: [above] } } = await graph<{ customers: { nodes: { id: string; databaseId: number }[] } }>(ada, '{ customers(filter: { search: "Brightwater Health" }) { nodes { id databaseId } } }', {});
  await graph(ada, "mutation($input: SetLimitsInput!) { setLimits(input: $input) { customer { id } } }", { input: { customerId: above!.id, limits: [{ name: "USERS", limit: 50 }, { name: "AGENTS", limit: 0 }] } });
  const lets = (descendantsCanAdd: boolean) => graph(ada, "mutation($input: UpdateCustomerInput!) { updateCustomer(input: $input) { customer { id } } }", { input: { customerId: above!.id, descendantsCanAdd } });
  await lets(true);
  const page = await open(t);
  await signIn(page, ada, `/console/companies/${above!.databaseId}/new`);
  const panel = page.getByRole("region", { name: "Create a company" });
  const limits = panel.getByRole("list", { name: "Limits and use" });
  await limits.getByText(/^People: \d+ of 50$/).waitFor();
  await limits.getByText("Agents: 0 of 0, full").waitFor();
  // What is far from being reached does not stand before the name.
  const far = panel.getByText(/^Chunks: 0 of /);
  assert.equal(await far.isVisible(), false);
  await panel.getByText("Other limits").click();
  await far.waitFor();
  const flag = panel.getByRole("switch", { name: "May create companies below it" });
  await flag.press(" ");
  await panel.getByText("can create companies right below it.").waitFor();
  await lets(false);
  await page.reload();
  await flag.press(" ");
  await panel.getByText("It would be of no effect: Brightwater Health does not let those below it create companies.").waitFor();
  await accessible(page, "company-create-limits");
});

test("find anything from anywhere", async (t) => {
  const page = await open(t);
  await signIn(page, ada);
  await page.keyboard.press("Control+k");
  const box = page.getByRole("combobox", { name: "Search" });
  await box.fill("alpine hyd");
  await page.getByRole("option", { name: /Alpine Hydro/ }).first().waitFor();
  await accessible(page, "search");
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "Alpine Hydro" }).waitFor();
  await page.getByRole("button", { name: "Search" }).first().click();
  for (const [words, name] of [["two-factor", "Two-factor"], ["limits", "Limits and use"], ["deliv", "Deliveries"], ["secr", "Secrets"]]) {
    await box.fill(words!);
    await page.getByRole("option", { name: new RegExp(`^${name}`) }).first().waitFor();
  }
  // By the name in another language, by an event's name, and by a part of one's own account.
  for (const [words, name] of [["verbrauch", "Limits and use"], ["run.fail", "Deliveries: run.failed"], ["runs failed", "Runs: failed"], ["deliveries blocked", "Deliveries: blocked"]]) {
    await box.fill(words!);
    await page.getByRole("option", { name: new RegExp(`^${name}`) }).first().waitFor();
  }
  await box.fill("deliveries blocked");
  await page.keyboard.press("Enter");
  await page.waitForURL(/webhooks\/deliveries\?status=blocked/);
  await page.getByRole("button", { name: "Search" }).first().click();
  await box.fill("passkeys");
  await page.getByRole("option", { name: /^Passkeys/ }).click();
  await page.waitForURL(/profile#passkeys/);
  await page.waitForFunction(() => document.activeElement?.id === "passkeys");
  await page.getByRole("button", { name: "Search" }).first().click();
  await box.fill("limits");
  await page.getByRole("option", { name: /^Limits and use/ }).click();
  await page.getByRole("region", { name: "Limits and use" }).waitFor();
  await page.getByRole("button", { name: "Search" }).first().click();
  await box.fill("xyzzyx");
  await page.getByText("Nothing goes by “xyzzyx”").waitFor();
  await page.keyboard.press("Escape");
  await box.waitFor({ state: "detached" });
});

test("who finds something by the keyboard need not wait for the box", async (t) => {
  const page = await open(t);
  await signIn(page, ada);
  let load = () => {};
  const loaded = new Promise<void>((done) => { load = done; });
  await page.route(/assets\/Search-.*\.js$/, async (route) => {
    await loaded;
    await route.continue();
  });
  // Before the box is there: with a slip, and Enter, which presses nothing behind it.
  const focus = page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "People" });
  await focus.focus();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("alpine hx");
  await page.keyboard.press("Backspace");
  await page.keyboard.press("Enter");
  load();
  const box = page.getByRole("combobox", { name: "Search" });
  await page.waitForFunction(() => document.activeElement?.getAttribute("role") === "combobox");
  assert.equal(await box.inputValue(), "alpine h");
  assert.ok(!page.url().includes("people"));
  await page.keyboard.type("yd");
  await page.getByRole("option", { name: /Alpine Hydro/ }).first().waitFor();
  await page.keyboard.press("Escape");
  await box.waitFor({ state: "detached" });
  await page.waitForFunction(() => document.activeElement?.textContent === "People");
  // It is there, and does not have the focus yet.
  await page.keyboard.press("Control+k");
  await page.keyboard.type("coral");
  await page.getByRole("option", { name: /Coral Logistics/ }).first().waitFor();
  assert.equal(await box.inputValue(), "coral");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await page.keyboard.press("Escape");
  await box.waitFor({ state: "detached" });
});

test("who may only look is shown nothing else", async (t) => {
  const page = await open(t);
  await signIn(page, mira, "/console/companies");
  await page.getByRole("treeitem", { name: "Alpine Solar" }).click();
  const panel = page.getByRole("region", { name: "Alpine Solar" });
  await panel.getByText("Those below may create companies of their own").waitFor();
  assert.equal(await page.getByRole("link", { name: "Create a company" }).count(), 0);
  assert.equal(await panel.getByRole("button", { name: "Save" }).count(), 0);
  assert.equal(await panel.getByRole("textbox").count(), 0);
  await accessible(page, "company-viewer");
});

test("what is out of reach, away, too much or offline says so, and can be tried again", async (t) => {
  const page = await open(t, { complaints: /status of (403|429|503)|ERR_INTERNET_DISCONNECTED|ERR_FAILED/ });
  await signIn(page, greta, "/console/companies/1");
  await page.getByRole("alert").getByText("You are not allowed to do this").waitFor();
  await accessible(page, "forbidden");

  for (const [status, says] of [[503, "The platform is not available at the moment"], [429, "Too many requests. Try again in 60 s."]] as const) {
    await page.route("**/graphql", (route) => route.fulfill({
      status, headers: { "Retry-After": "60" }, contentType: "application/problem+json", body: JSON.stringify({ title: "Away", status, detail: "come back later" }),
    }));
    await page.goto(`${url}/console/companies`);
    await page.getByRole("alert").getByText(says).waitFor();
    await accessible(page, `problem-${status}`);
    await page.unroute("**/graphql");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("treeitem", { name: "Alpine Solar" }).waitFor();
  }

  await page.context().setOffline(true);
  await page.getByRole("status").getByText("You are offline").waitFor();
  await page.getByRole("treeitem", { name: "Alpine Hydro" }).click();
  await page.getByRole("alert").getByText("The platform can’t be reached").waitFor();
  await accessible(page, "offline");
  await page.context().setOffline(false);
  await page.getByRole("region", { name: "Alpine Hydro" }).getByLabel("Name", { exact: true }).waitFor();
});

test("on a telephone one screen is shown at a time", async (t) => {
  const page = await open(t, { width: 390 });
  await signIn(page, ada, "/console/companies");
  await page.getByRole("treeitem", { name: "Dune Retail" }).click();
  await page.getByRole("region", { name: "Dune Retail" }).getByLabel("Name", { exact: true }).waitFor();
  assert.equal(await page.getByRole("tree").isVisible(), false);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "the page is wider than the screen");
  await accessible(page, "company-telephone");
  await page.getByRole("region", { name: "Dune Retail" }).getByRole("button", { name: "Close" }).click();
  await page.getByRole("tree").waitFor();
  await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("link", { name: "People" }).click();
  await page.getByRole("heading", { name: "People" }).waitFor();
});

test("a long name without a space pushes nothing aside", async (t) => {
  const name = "Rindfleischetikettierung".repeat(5);
  const { regions: [region] } = await graph<{ regions: { id: string }[] }>(ada, "{ regions { id } }", {});
  const { createCustomer: { customer: { databaseId: id } } } = await graph<{ createCustomer: { customer: { databaseId: number } } }>(
    ada, "mutation($input: CreateCustomerInput!) { createCustomer(input: $input) { customer { databaseId } } }", { input: { name, regionId: region!.id, email: "long@names.example" } });
  const page = await open(t);
  await signIn(page, ada, `/console/companies/${id}`);
  const panel = page.getByRole("region", { name });
  await panel.getByRole("heading", { name, level: 2 }).waitFor();
  const inside = async (): Promise<void> => {
    const { x, width } = (await panel.boundingBox())!;
    const close = (await panel.getByRole("button", { name: "Close" }).boundingBox())!;
    assert.ok(close.x + close.width <= x + width, "Close stands outside of its panel");
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "the page is wider than its window");
  };
  await inside();
  await page.setViewportSize({ width: 360, height: 700 });
  await inside();
});
