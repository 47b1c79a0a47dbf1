// A person at the console, and what must hold of each screen.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { Page } from "playwright-core";
import { keep, openFor, type Options, setting } from "./browser.js";

export const url = setting("URL");
/** The root company's owner. */
export const ada = { email: setting("EMAIL"), password: setting("PASSWORD") };
/** Alpine Energy's owner, admin and viewer, and a member of another company. */
export const [greta, jonas, mira, sofia] = ["greta@alpine.example", "jonas@alpine.example", "mira@alpine.example", "sofia@brightwater.example"]
  .map((email) => ({ email, password: setting("OTHERS_PASSWORD") })) as [Person, Person, Person, Person];

/** An API key of the root company. */
export const key = { id: setting("CLIENT_ID"), secret: setting("CLIENT_SECRET") };

/** Where webhooks can be sent: one that takes them, one that answers 503 until it was sent an event three times, and one that does not answer. */
export const receivers = { well: setting("RECEIVER"), failing: setting("FAILING_RECEIVER"), slow: setting("SLOW_RECEIVER") };

export interface Person {
  email: string;
  password: string;
}

/** Opens a browser window with an empty profile. At the end of the test nothing may have gone wrong in it. */
export function open(t: TestContext, options?: Options): Promise<Page> {
  return openFor(t, [url], options);
}

/** Signs somebody in, and waits for the first screen, or for the one that was asked for. */
export async function signIn(page: Page, { email, password }: Person, path = "/console/"): Promise<void> {
  await page.goto(url + path);
  await page.getByLabel("E-mail").fill(email);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Account" }).waitFor();
}

/** The same where the browser speaks German. */
export async function signInInGerman(page: Page, { email, password }: Person, path = "/console/"): Promise<void> {
  await page.goto(url + path);
  await page.getByLabel("E-Mail").fill(email);
  await page.getByRole("button", { name: "Weiter" }).click();
  await page.getByLabel("Passwort", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Anmelden" }).click();
  await page.getByRole("button", { name: "Konto" }).waitFor();
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Looks at the screen as it is, in both themes, for what people with assistive programs could not use. */
export async function accessible(page: Page, name: string): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor();
    await keep(page, `${name}-${colorScheme}`);
    const violations = await page.evaluate(`${axe}; axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html, failureSummary }) => html.slice(0, 200) + " " + failureSummary).join("; ")))`);
    assert.deepEqual(violations, [], `${name}, ${colorScheme}`);
  }
}

/** A PDF with a page for each text. */
export async function pdfOf(t: TestContext, texts: readonly string[]): Promise<Buffer> {
  const paper = await (await open(t)).context().newPage();
  await paper.setContent(texts.map((text) => `<p style="break-after: page">${text}</p>`).join(""));
  return paper.pdf();
}

/** The newest link that somebody was sent by mail, once there is one; of a kind, as the fragment begins. */
export async function linkFor(email: string, kind = ""): Promise<string> {
  const folder = setting("MAILS");
  for (let tries = 0; tries < 100; tries++) {
    const mails = existsSync(folder) ? readdirSync(folder).sort().reverse() : [];
    for (const name of mails) {
      const mail = readFileSync(join(folder, name), "utf8").replace(/=\r?\n/g, "").replace(/=([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(parseInt(code, 16)));
      const link = new RegExp(`^To:.*${email}`, "mi").test(mail) && new RegExp(`https?://\\S+#${kind}\\S+`).exec(mail)?.[0];
      if (link) return link;
    }
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error(`${email} was sent no link`);
}
