// What the platform says in English, and the console in German; and how dates are written where.
import assert from "node:assert/strict";
import test from "node:test";
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
});

test("dates are written as the browser's country does", async (t) => {
  for (const [language, written] of [["en-GB", /\w+day,? \d+ \w+ \d{4}/], ["en-US", /\w+day, \w+ \d+, \d{4}/]] as const) {
    const page = await open(t, { language });
    await signIn(page, greta, "/console/audit");
    await page.getByRole("listbox", { name: "Audit log" }).getByRole("option").first().click();
    await page.getByText(written).first().waitFor();
  }
});
