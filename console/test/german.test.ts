// What the platform says in English, and the console in German; and how dates are written where.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { counting, graph, made } from "./made.js";
import { greta, open, signIn, signInInGerman, url } from "./visit.js";

test("what an event and its fields mean", async (t) => {
  const page = await open(t, { language: "de-DE" });
  await signInInGerman(page, greta, "/console/webhooks/events/run.started");
  await page.getByText("Ein Lauf beginnt.").first().waitFor();
  await page.getByText("Der Lauf, wie er beim Start genannt wurde.").waitFor();
  assert.equal(await page.getByText("A run starts.").count(), 0);
  await page.getByRole("searchbox").first().fill("Passkey");
  await page.getByRole("option", { name: /passkey\.created.*Jemand legt einen Passkey an/ }).waitFor();
  await page.goto(`${url}/console/audit`);
  await page.getByRole("listbox", { name: "Protokoll" }).getByRole("option", { name: /user\.signedIn/ }).first().click();
  await page.getByText("Jemand meldet sich an: mit Passwort, Passkey oder bei einem Anmeldedienst.").waitFor();
  await page.getByRole("region", { name: "Näheres" }).waitFor();
  assert.equal(await page.getByText("nachher:").count(), 0);
});

test("dates are written as the browser's country does", async (t) => {
  for (const [language, written] of [["en-GB", /\w+day,? \d+ \w+ \d{4}/], ["en-US", /\w+day, \w+ \d+, \d{4}/]] as const) {
    const page = await open(t, { language });
    await signIn(page, greta, "/console/audit");
    await page.getByRole("listbox", { name: "Audit log" }).getByRole("option").first().click();
    await page.getByText(written).first().waitFor();
  }
});

test("what is wrong with a field, and why the platform refuses something", async (t) => {
  const page = await open(t, { language: "de-DE", complaints: /status of 400/ });
  await signInInGerman(page, greta, "/console/agents/secrets/new");
  const form = page.getByRole("region", { name: "Neues Geheimnis" });
  await form.getByLabel("Name").fill("mit Leerzeichen");
  await form.getByLabel("Wert", { exact: true }).fill("x");
  await form.getByRole("button", { name: "Aufbewahren" }).click();
  await form.getByText(/Buchstaben, Ziffern und Unterstrichen bestehen, mindestens einem und höchstens 64/).waitFor();
  const refusal = { message: "a company has at most 100 secrets", path: ["createSecret"], extensions: { code: "BAD_REQUEST", reason: "too_many_secrets" } };
  await page.route(`${url}/graphql`, (route) => (route.request().postData()?.includes("createSecret") ? route.fulfill({ json: { data: null, errors: [refusal] } }) : route.fallback()));
  await form.getByLabel("Name").fill("ohne");
  await form.getByRole("button", { name: "Aufbewahren" }).click();
  await form.getByText("Mehr Geheimnisse kann ein Unternehmen nicht haben.").waitFor();
  await form.locator("[lang=en]").getByText("A company has at most 100 secrets.").waitFor();
});

test("the parts of an agent and of a context stand in one row on a telephone", async (t) => {
  const { databaseId } = await made(greta, "Zeile", counting);
  const { createContext: { context } } = await graph<{ createContext: { context: { databaseId: number } } }>(
    greta, "mutation($input: CreateContextInput!) { createContext(input: $input) { context { databaseId } } }", { input: { name: "Zeile", description: "", caption: "" } });
  const page = await open(t, { language: "de-DE", width: 390 });
  await signInInGerman(page, greta, `/console/agents/${databaseId}`);
  for (const path of [`agents/${databaseId}`, `contexts/${context.databaseId}`]) {
    await page.goto(`${url}/console/${path}`);
    const links = page.getByRole("navigation", { name: "Zeile" }).getByRole("link");
    await links.nth(4).waitFor();
    const tops = await links.evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().top)));
    assert.equal(new Set(tops).size, 1, `${path}: ${tops.join(", ")}`);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), path);
  }
});

/** What a file of German words says, by its keys. */
function words(file: string): Map<string, string> {
  const text = readFileSync(new URL(`../src/text/de/${file}.ts`, import.meta.url), "utf8");
  return new Map([...text.matchAll(/"?([\w.]+)"?: "([^"]+)"/g)].map(([, key, said]) => [key!, said!]));
}

test("applications and rights have the names of the file of words", async (t) => {
  const { me: { grants } } = await graph<{ me: { grants: { application: string; features: string[] }[] } }>(greta, "{ me { grants { application features } } }", {});
  const [rights, names] = [words("rights"), words("app")];
  const page = await open(t, { language: "de-DE" });
  await signInInGerman(page, greta);
  await page.getByText("Was das erlaubt", { exact: true }).click();
  const own = page.getByRole("list", { name: "Was das erlaubt" });
  for (const right of new Set(grants.flatMap(({ features }) => features))) {
    assert.ok(rights.has(right), right);
    await own.getByRole("listitem").filter({ hasText: rights.get(right)! }).filter({ hasText: right }).waitFor();
  }
  assert.ok(grants.length > 1);
  for (const { application } of grants) {
    assert.ok(names.has(application), application);
    await page.getByText(new RegExp(`^Sie handeln für .* in ${names.get(application)!}`)).waitFor();
  }
});
