import assert from "node:assert/strict";
import test from "node:test";
import type { Page } from "playwright-core";
import { graph, made } from "./made.js";
import { accessible, greta, mira, open, signIn, url } from "./visit.js";

async function save(page: Page) {
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("All saved").waitFor();
}

test("a secret: kept, used by its name, replaced, written by two people, and removed", async (t) => {
  const page = await open(t, { complaints: /status of 4(00|09)/ });
  await signIn(page, greta, "/console/agents/secrets");
  await page.getByRole("heading", { name: "No secret yet" }).waitFor();
  await accessible(page, "secrets-none");
  await page.getByRole("link", { name: "New secret" }).first().click();
  const create = page.getByRole("region", { name: "New secret" });
  await create.getByLabel("Name").fill("not a name");
  await create.getByLabel("Value", { exact: true }).fill("s3cret-value");
  await create.getByRole("button", { name: "Keep it" }).click();
  await create.locator("[aria-invalid=true]").waitFor();
  await accessible(page, "secret-create");
  await create.getByLabel("Name").fill("CRM_TOKEN");
  await create.getByRole("button", { name: "Keep it" }).click();
  await page.getByRole("listbox", { name: "Secrets" }).getByRole("option", { name: /CRM_TOKEN/ }).click();
  const secret = page.getByRole("region", { name: "CRM_TOKEN" });
  await secret.getByText("{{ secrets.CRM_TOKEN }}").waitFor();
  assert.equal(await page.getByText("s3cret-value").count(), 0);
  await accessible(page, "secret");

  const { me: { customer: { secrets } } } = await graph<{ me: { customer: { secrets: { id: string }[] } } }>(greta, "{ me { customer { secrets { id } } } }", {});
  await graph(greta, "mutation($input: UpdateSecretInput!) { updateSecret(input: $input) { secret { id } } }", { input: { id: secrets[0]!.id, value: "another" } });
  await secret.getByLabel("New value").fill("mine");
  const sure = page.getByRole("dialog", { name: "Replace the value of CRM_TOKEN?" });
  await secret.getByRole("button", { name: "Replace" }).click();
  await sure.getByText("The present value ends at once and can’t be had again").waitFor();
  await accessible(page, "secret-replace");
  await sure.getByRole("button", { name: "Replace" }).click();
  await secret.getByText("Somebody else has written it meanwhile").waitFor();
  await accessible(page, "secret-conflict");
  await secret.getByRole("button", { name: "Keep mine" }).click();
  await secret.getByRole("button", { name: "Replace" }).click();
  await sure.getByRole("button", { name: "Replace" }).click();
  await page.getByText("Saved", { exact: true }).waitFor();

  const { databaseId } = await made(greta, "Sends", { steps: [{ id: "ask", type: "http", url: "https://example.com/" }], output: {} }, false);
  await page.goto(`${url}/console/agents/${databaseId}`);
  const step = page.getByRole("region", { name: "Step", exact: true });
  await step.getByRole("button", { name: "Add", exact: true }).click();
  await step.getByLabel(/^Value of/).fill("Bearer ");
  await step.getByRole("button", { name: "secrets.CRM_TOKEN" }).click();
  assert.equal(await step.getByLabel(/^Value of/).inputValue(), "Bearer {{ secrets.CRM_TOKEN }}");
  await save(page);
  await accessible(page, "agent-secret");

  await page.goto(`${url}/console/agents/secrets`);
  await page.getByRole("option", { name: /CRM_TOKEN/ }).click();
  await secret.getByRole("button", { name: "Remove it for good" }).click();
  const dialog = page.getByRole("dialog", { name: "Remove CRM_TOKEN for good?" });
  await accessible(page, "secret-remove");
  await dialog.getByRole("button", { name: "Cancel" }).click();

  // Removed, taken back at once, removed again and found among what was deleted, when its name has been given again.
  await secret.getByRole("button", { name: "Remove", exact: true }).click();
  await page.getByRole("heading", { name: "No secret yet" }).waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("option", { name: /CRM_TOKEN/ }).click();
  await secret.getByRole("button", { name: "Remove", exact: true }).click();
  await page.getByRole("heading", { name: "No secret yet" }).waitFor();
  await graph(greta, "mutation($input: CreateSecretInput!) { createSecret(input: $input) { secret { id } } }", { input: { name: "CRM_TOKEN", value: "new" } });
  await page.getByRole("link", { name: "Recently deleted" }).click();
  const deleted = page.getByRole("region", { name: "Recently deleted" });
  await deleted.getByRole("button", { name: "Bring back CRM_TOKEN" }).click();
  await deleted.getByLabel("Another name").fill("OLD_TOKEN");
  await accessible(page, "secrets-deleted");
  await deleted.getByRole("button", { name: "Bring back CRM_TOKEN" }).click();
  await page.getByText("OLD_TOKEN is back").waitFor();
  await page.getByRole("option", { name: /OLD_TOKEN/ }).click();
  await page.getByRole("region", { name: "OLD_TOKEN" }).getByRole("button", { name: "Remove it for good" }).click();
  await page.getByRole("dialog", { name: "Remove OLD_TOKEN for good?" }).getByRole("button", { name: "Remove it for good" }).click();
  await page.getByText("OLD_TOKEN is removed", { exact: true }).waitFor();

  const other = await open(t);
  await signIn(other, mira, "/console/agents/secrets");
  await other.getByRole("heading", { name: "Not for you" }).waitFor();
  await accessible(other, "secrets-forbidden");
});
