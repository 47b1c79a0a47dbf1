// Pictures of the main screens, for the README and docs: `make screenshots`.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import type { Page } from "playwright-core";
import { ada, open, receivers, signIn } from "./visit.js";

const folder = process.env.CANOPY_PICTURES!;
mkdirSync(folder, { recursive: true });

/** Keeps the screen as it is, without what moves. */
async function keep(page: Page, name: string): Promise<void> {
  await page.waitForLoadState("networkidle");
  await page.evaluate(() => document.fonts.ready);
  await page.screenshot({ path: join(folder, `${name}.jpg`), type: "jpeg", quality: 72, animations: "disabled", caret: "hide" });
}

test("pictures", async (t) => {
  const page = await open(t);
  await page.setViewportSize({ width: 1200, height: 720 });
  const menu = page.getByRole("navigation", { name: "Main" });
  await signIn(page, ada);
  await page.getByRole("region", { name: "First steps" }).getByRole("img", { name: "done" }).first().waitFor();
  await keep(page, "home");

  await menu.getByRole("link", { name: "Companies" }).click();
  await page.getByRole("treeitem", { name: "Alpine Energy" }).click();
  await page.getByRole("region", { name: "Alpine Energy" }).getByLabel("Name", { exact: true }).waitFor();
  await page.getByRole("tree").press("ArrowRight");
  await page.getByRole("treeitem", { name: "Alpine Hydro" }).waitFor();
  await keep(page, "companies");

  await menu.getByRole("link", { name: "People" }).click();
  await page.getByRole("option", { name: /Greta Huber/ }).click();
  await page.getByRole("region", { name: "What they may do, and why" }).getByText(/^Owner in /).first().waitFor();
  await keep(page, "people");

  await menu.getByRole("link", { name: "Agents" }).click();
  await page.getByRole("link", { name: "New agent" }).first().click();
  const agent = page.getByRole("region", { name: "New agent" });
  await agent.getByLabel("Name", { exact: true }).fill("Finds what is asked");
  await agent.getByLabel("Find in documents").check();
  await agent.getByRole("button", { name: "Create", exact: true }).click();
  await page.locator(".drawing .feeds").first().waitFor({ state: "attached" });
  await keep(page, "agents");

  await menu.getByRole("link", { name: "Webhooks" }).click();
  await page.getByRole("link", { name: "Add the first destination" }).click();
  const form = page.getByRole("region", { name: "Add a destination" });
  await form.getByLabel("Address").fill(receivers.well);
  await form.getByLabel("Name").fill("Billing");
  await form.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("button", { name: "I have kept it" }).click();
  const destination = page.getByRole("region", { name: "Billing", exact: true });
  await destination.getByRole("button", { name: "Send", exact: true }).click();
  await destination.getByRole("link", { name: "Show the delivery" }).click();
  await page.getByText("x-canopy-test: true").waitFor();
  await page.emulateMedia({ colorScheme: "dark" });
  await keep(page, "webhooks");
  await page.emulateMedia({ colorScheme: "light" });

  await menu.getByRole("link", { name: "Audit log" }).click();
  await page.getByRole("listbox", { name: "Audit log" }).getByRole("option", { name: /webhookDestination/ }).first().click();
  await page.getByRole("region", { name: /^(Particulars|What was changed)$/ }).waitFor();
  await keep(page, "audit");

  await menu.getByRole("link", { name: "Operations" }).click();
  await page.getByLabel("By", { exact: true }).selectOption("USERS");
  await page.getByRole("region", { name: "Companies by load" }).getByRole("link", { name: "Alpine Energy" }).waitFor();
  await page.getByRole("region", { name: "Workers" }).getByText(/Mails, Documents/).waitFor();
  await keep(page, "operations");
});
