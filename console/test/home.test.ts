import assert from "node:assert/strict";
import test from "node:test";
import { graph } from "./made.js";
import { accessible, greta, mira, open, signIn, url } from "./visit.js";

test("the first steps: what is done, what is open, and away with them", async (t) => {
  const page = await open(t);
  await signIn(page, greta);
  const steps = page.getByRole("region", { name: "First steps" });
  await steps.getByRole("listitem").filter({ hasText: "Look at the companies" }).getByRole("img", { name: "done" }).waitFor(); // by the demo data
  await steps.getByText("Ticked is what Alpine Energy has by now, whoever did it, and your own second factor.").waitFor();
  const keys = steps.getByRole("listitem").filter({ hasText: "Make an API key" });
  await keys.getByRole("img", { name: "open" }).waitFor();
  await steps.getByRole("link", { name: "Build an agent, and run it" }).waitFor();
  await page.getByText(/^You act for Alpine Energy\. Your role there: Owner in Tenant management/).waitFor();
  await page.getByText("What that allows", { exact: true }).first().click();
  await page.getByText("In tenant management it holds for Alpine Energy and all companies below it").waitFor();
  await page.getByRole("listitem").filter({ hasText: "Invite and change people user.write" }).waitFor();
  await accessible(page, "home");
  await keys.getByRole("link").click();
  await page.getByRole("link", { name: "Create a key" }).first().click();
  const form = page.getByRole("region", { name: "Create a key" });
  await form.getByLabel("Name").fill("Robot");
  await form.getByRole("button", { name: "Create" }).click();
  await form.getByText("Copy the secret now").waitFor();
  await form.getByRole("button", { name: "I have kept it" }).click();
  await page.getByRole("link", { name: "Home" }).click();
  await keys.getByRole("img", { name: "done" }).waitFor();

  await steps.getByRole("button", { name: "Hide them" }).click();
  await page.getByRole("button", { name: "Show the first steps" }).waitFor();
  await page.reload();
  await page.getByRole("button", { name: "Show the first steps" }).click();
  await steps.waitFor();
});

test("who has come and may do nothing yet is named on the first page, for those who can give rights", async (t) => {
  const { me } = await graph<{ me: { customer: { id: string } } }>(greta, "{ me { customer { id } } }", {});
  await graph(greta, "mutation($input: CreateUsersInput!) { createUsers(input: $input) { results { user { id } } } }", {
    input: { customerId: me.customer.id, users: [{ email: "wanda@alpine.example", firstName: "Wanda", lastName: "Wait" }] },
  });
  const page = await open(t);
  await signIn(page, greta);
  const waiting = page.getByRole("region", { name: "They wait for rights" });
  await waiting.getByRole("link", { name: /Wanda Wait/ }).click();
  const form = page.getByRole("region", { name: /Wanda Wait/ });
  await form.getByLabel("Role").waitFor();
  await form.getByRole("button", { name: "Give a permission" }).click();
  await page.getByRole("region", { name: "What they may do, and why" }).getByText(/of Alpine Energy/).first().waitFor();
  await page.getByRole("link", { name: "Home" }).click();
  await page.getByRole("region", { name: "First steps" }).waitFor();
  await waiting.getByRole("link", { name: /Wanda Wait/ }).waitFor({ state: "detached" });
});

test("who can take none of the steps sees none", async (t) => {
  const page = await open(t, { language: "de-DE" });
  await page.goto(url + "/console/");
  await page.getByLabel("E-Mail").fill(mira.email);
  await page.getByRole("button", { name: "Weiter" }).click();
  await page.getByLabel("Passwort", { exact: true }).fill(mira.password);
  await page.getByRole("button", { name: "Anmelden" }).click();
  await page.getByRole("heading", { name: /^Willkommen/ }).waitFor();
  await page.getByRole("link", { name: "Personen" }).first().waitFor();
  assert.equal(await page.getByRole("region", { name: "Erste Schritte" }).count(), 0);
});
