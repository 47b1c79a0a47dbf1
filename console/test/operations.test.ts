import assert from "node:assert/strict";
import test from "node:test";
import { accessible, ada, greta, open, receivers, signIn } from "./visit.js";

test("the root sees what waits, who works, what fails, and the companies by what they do", async (t) => {
  const page = await open(t);
  await signIn(page, ada, "/console/webhooks");
  await page.getByRole("link", { name: "Add the first destination" }).click();
  const form = page.getByRole("region", { name: "Add a destination" });
  await form.getByLabel("Address").fill(receivers.failing);
  await form.getByLabel("Name").fill("Shaky");
  await form.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("button", { name: "I have kept it" }).click();
  const panel = page.getByRole("region", { name: "Shaky", exact: true });
  await panel.getByRole("button", { name: "Send", exact: true }).click();
  await panel.getByText("answered 503 in").waitFor();

  await page.getByRole("link", { name: "Operations" }).click();
  const workers = page.getByRole("region", { name: "Workers" });
  await workers.getByText(/Mails, Documents/).waitFor();
  assert.equal(await workers.getByRole("status").count(), 0, "the worker has the version of the server");
  const failing = page.getByRole("region", { name: "Failing destinations" });
  await failing.getByRole("row", { name: /Shaky Northwind Group .* tried on/ }).waitFor();
  await page.getByRole("region", { name: "Mails that did not go out" }).getByText("All mails went out.").waitFor();
  assert.equal(await page.getByRole("link", { name: "The queues in detail" }).getAttribute("href"), "/monitoring/");
  const busiest = page.getByRole("region", { name: "Companies by load" });
  await busiest.getByLabel("By").selectOption("USERS");
  await busiest.getByRole("link", { name: "Alpine Energy" }).waitFor();
  assert.match(page.url(), /by=USERS/);
  await busiest.getByRole("img", { name: /People by place in the table, drawn/ }).locator("canvas").waitFor();
  const names = async () => (await busiest.getByRole("row").locator("td:nth-child(2)").allInnerTexts()).map((name) => name.trim());
  const company = busiest.getByRole("columnheader", { name: "Company" });
  assert.equal(await company.getAttribute("aria-sort"), "none");
  await company.getByRole("button").focus();
  await page.keyboard.press("Enter");
  await busiest.locator('th[aria-sort="ascending"]', { hasText: "Company" }).waitFor();
  assert.deepEqual(await names(), [...await names()].sort((a, b) => a.localeCompare(b)));
  await page.keyboard.press("Enter");
  await busiest.locator('th[aria-sort="descending"]', { hasText: "Company" }).waitFor();
  assert.deepEqual(await names(), [...await names()].sort((a, b) => b.localeCompare(a)));
  await page.getByText("Default limits").click();
  await page.getByText("Webhook destinations", { exact: true }).waitFor();
  await accessible(page, "operations");
  await failing.getByRole("link", { name: "Shaky" }).click();
  await page.getByRole("region", { name: "Shaky", exact: true }).getByText("Nothing got through since").waitFor();
});

test("another company has no operations, and its own audit log, which lives", async (t) => {
  const page = await open(t);
  await signIn(page, greta, "/console/audit");
  assert.equal(await page.getByRole("link", { name: "Operations" }).count(), 0);
  const log = page.getByRole("listbox", { name: "Audit log" });
  await log.getByRole("option").first().waitFor();

  const other = await open(t);
  await signIn(other, greta, "/console/keys");
  await other.getByRole("link", { name: "Create a key" }).first().click();
  const form = other.getByRole("region", { name: "Create a key" });
  await form.getByLabel("Name").fill("Robot");
  await form.getByLabel("company.read").check();
  await form.getByRole("button", { name: "Create" }).click();
  await log.getByRole("option", { name: /apiKey\.created.*greta@alpine\.example/ }).click();
  const panel = page.getByRole("region", { name: "apiKey.created" });
  await panel.getByRole("region", { name: "What was changed" }).getByText("Robot").waitFor();
  await panel.locator("time").first().hover();
  await page.getByRole("tooltip").waitFor();
  await accessible(page, "audit");
  await panel.getByRole("link", { name: "All that they did" }).click();
  await page.getByText("by greta@alpine.example").waitFor();
  await page.getByLabel("Action").selectOption("apiKey.created");
  await log.getByRole("option", { name: /user\.signedIn/ }).first().waitFor({ state: "detached" });
  await log.getByRole("option", { name: /apiKey\.created/ }).waitFor();
  assert.match(page.url(), /action=apiKey\.created/);
  await page.getByLabel("Action").selectOption("customer.erased");
  await page.getByRole("heading", { name: "Nothing was done that fits" }).waitFor();
  await accessible(page, "audit-none");
  await page.getByRole("button", { name: "Clear the filters" }).click();
  await log.getByRole("option").nth(1).waitFor();
});

test("operations that can't be had say why", async (t) => {
  const page = await open(t, { complaints: /403/ });
  await signIn(page, greta, "/console/operations");
  await page.getByRole("alert").getByText("You are not allowed to do this").waitFor();
  await page.getByText("Only the root company sees how the platform fares.").first().waitFor();
  await accessible(page, "operations-forbidden");
});

test("on a telephone the panel covers the list, and the page keeps its name", async (t) => {
  const page = await open(t, { width: 390 });
  await signIn(page, greta, "/console/audit");
  await page.getByRole("listbox", { name: "Audit log" }).getByRole("option").first().click();
  await page.getByRole("region", { name: "What was changed" }).waitFor();
  assert.equal(await page.getByRole("listbox").count(), 0);
  await page.getByRole("heading", { level: 1, name: "Audit log" }).waitFor();
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "the page is wider than the screen");
  await accessible(page, "audit-telephone");
  await page.goto(`${page.url().split("/audit")[0]}/webhooks/destinations/new`);
  await page.getByRole("region", { name: "Add a destination" }).waitFor();
  await page.getByRole("heading", { level: 1, name: "Destinations" }).waitFor();
  await accessible(page, "webhooks-telephone");
});
