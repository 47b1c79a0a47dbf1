// Two people change the same thing at once: who saves second is told, sees what the other has saved, and chooses.
import assert from "node:assert/strict";
import test from "node:test";
import { graph } from "./made.js";
import { accessible, ada, greta, open, receivers, signIn, url } from "./visit.js";

// What is refused is no error of the page's.
const complaints = /status of 40[09]/;

interface Form {
  /** Where it is, what the field is called, and the button. */
  path: string;
  field: string;
  save?: string;
  /** Saves something else there, as somebody else. */
  change: (value: string) => Promise<unknown>;
}

const forms: Record<string, () => Promise<Form>> = {
  "a company": async () => {
    const { customers: { nodes: [company] } } = await graph<{ customers: { nodes: [{ id: string; databaseId: number }] } }>(greta, '{ customers(filter: { search: "Alpine Solar" }) { nodes { id databaseId } } }', {});
    return {
      path: `/companies/${company.databaseId}`, field: "Name",
      change: (name) => graph(greta, "mutation($input: UpdateCustomerInput!) { updateCustomer(input: $input) { customer { id } } }", { input: { customerId: company.id, name } }),
    };
  },
  "a billing record, the first time": async () => {
    const { customers: { nodes: [company] } } = await graph<{ customers: { nodes: [{ id: string; databaseId: number }] } }>(greta, '{ customers(filter: { search: "Alpine Energy" }) { nodes { id databaseId } } }', {});
    return {
      path: `/companies/${company.databaseId}/billing`, field: "Name on the bill",
      change: (billingName) => graph(greta, "mutation($input: SaveBillingInput!) { saveBilling(input: $input) { billing { id } } }", { input: { customerId: company.id, billingName } }),
    };
  },
  "a context": async () => {
    const { createContext: { context } } = await graph<{ createContext: { context: { id: string; databaseId: number } } }>(
      greta, 'mutation { createContext(input: { name: "Together", caption: "", description: "" }) { context { id databaseId } } }', {});
    return {
      path: `/contexts/${context.databaseId}/settings`, field: "What it is for",
      change: (caption) => graph(greta, "mutation($input: UpdateContextInput!) { updateContext(input: $input) { context { id } } }", { input: { id: context.id, caption } }),
    };
  },
  "a destination": async () => {
    const { createWebhookDestination: { destination } } = await graph<{ createWebhookDestination: { destination: { id: string; databaseId: number } } }>(
      greta, "mutation($url: String!) { createWebhookDestination(input: { url: $url }) { destination { id databaseId } } }", { url: receivers.well });
    return {
      path: `/webhooks/destinations/${destination.databaseId}/edit`, field: "Name",
      change: (name) => graph(greta, "mutation($input: UpdateWebhookDestinationInput!) { updateWebhookDestination(input: $input) { destination { id } } }", { input: { id: destination.id, name } }),
    };
  },
  "one's own name": async () => {
    const { me: { user } } = await graph<{ me: { user: { id: string } } }>(greta, "{ me { user { id } } }", {});
    return {
      path: "/profile", field: "First name", save: "Change the name",
      change: (firstName) => graph(greta, "mutation($input: UpdateUserInput!) { updateUser(input: $input) { user { id } } }", { input: { id: user.id, firstName } }),
    };
  },
};

for (const [what, form] of Object.entries(forms)) {
  test(`${what}: mine over theirs, and theirs`, async (t) => {
    const { path, field: label, save = "Save", change } = await form();
    const page = await open(t, { complaints });
    await signIn(page, greta, `/console${path}`);
    const field = page.getByRole("main").getByLabel(label, { exact: true });
    const button = page.getByRole("main").getByRole("button", { name: save, exact: true }).first();
    await field.fill("Mine");
    await change("Theirs");
    await button.click();
    const told = page.getByRole("alert").filter({ hasText: "Somebody else saved this meanwhile." });
    await told.getByRole("row", { name: `${label} Theirs Mine` }).waitFor();
    assert.equal(await field.inputValue(), "Mine");
    assert.equal(await page.getByText("IfVersion").count(), 0);
    await accessible(page, `together-${what.replace(/\W+/g, "-")}`);
    await told.getByRole("button", { name: "Save mine over it" }).click();
    await page.getByText("Saved", { exact: true }).waitFor();
    await told.waitFor({ state: "detached" });
    if (path.endsWith("/edit")) await page.goto(`${url}/console${path}`); // saving closes it
    assert.equal(await field.inputValue(), "Mine");

    await field.fill("Mine again");
    await change("Theirs again");
    await button.click();
    await told.getByRole("button", { name: "Take theirs" }).click();
    await told.waitFor({ state: "detached" });
    assert.equal(await field.inputValue(), "Theirs again");
    assert.ok(await button.isVisible());
  });
}

test("two browsers, in German: the second hears of the first, and what only the other has changed stays", async (t) => {
  const { customers: { nodes: [{ databaseId }] } } = await graph<{ customers: { nodes: [{ databaseId: number }] } }>(ada, '{ customers(filter: { search: "Dune Retail" }) { nodes { databaseId } } }', {});
  const first = await open(t);
  await signIn(first, ada, `/console/companies/${databaseId}`);
  const second = await open(t, { language: "de-DE", width: 390, complaints });
  await second.goto(`${url}/console/companies/${databaseId}`);
  await second.getByLabel("E-Mail").fill(ada.email);
  await second.getByRole("button", { name: "Weiter" }).click();
  await second.getByLabel("Passwort", { exact: true }).fill(ada.password);
  await second.getByRole("button", { name: "Anmelden" }).click();
  await second.getByLabel("Name", { exact: true }).fill("Dune Handel");
  const below = first.getByRole("main").getByRole("switch").last();
  const was = await below.isChecked();
  await below.setChecked(!was, { force: true });
  await first.getByRole("button", { name: "Save", exact: true }).click();
  await first.getByText("Saved", { exact: true }).waitFor();

  await second.getByRole("button", { name: "Speichern", exact: true }).click();
  const told = second.getByRole("alert").filter({ hasText: "Das hat inzwischen jemand anderes gespeichert." });
  await told.getByText("nicht geändert").waitFor();
  assert.ok(await second.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "the page is wider than the screen");
  await accessible(second, "together-german");
  await told.getByRole("button", { name: "Meinen darüber speichern" }).click();
  await second.getByText("Gespeichert", { exact: true }).waitFor();
  assert.equal(await second.getByRole("main").getByRole("switch").last().isChecked(), !was);
  assert.equal(await second.getByLabel("Name", { exact: true }).inputValue(), "Dune Handel");
});

