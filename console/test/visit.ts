// A person at a browser, and what must hold whatever they do.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, type TestContext } from "node:test";
import { type Browser, chromium, type Page } from "playwright-core";

export const url = setting("URL");
/** The root company's owner. */
export const ada = { email: setting("EMAIL"), password: setting("PASSWORD") };
/** Alpine Energy's owner, admin and viewer, and a member of another company. */
export const [greta, jonas, mira, sofia] = ["greta@alpine.example", "jonas@alpine.example", "mira@alpine.example", "sofia@brightwater.example"]
  .map((email) => ({ email, password: setting("OTHERS_PASSWORD") })) as [Person, Person, Person, Person];

/** Where webhooks can be sent: one that takes them, and one that answers 503 until it was sent an event three times. */
export const receivers = { well: setting("RECEIVER"), failing: setting("FAILING_RECEIVER") };

export interface Person {
  email: string;
  password: string;
}

export interface Options {
  /** What the browser may complain of: refusals that the test brings about, which browsers write into their logs. */
  complaints?: RegExp;
  language?: string;
  width?: number;
}

function setting(name: string): string {
  const value = process.env[`CANOPY_${name}`];
  if (value === undefined) throw new Error(`CANOPY_${name} is not set: make test-browser runs these tests`);
  return value;
}

/** A folder for pictures of the screens, where they are wanted. */
const pictures = process.env.CANOPY_SCREENSHOTS;
if (pictures) mkdirSync(pictures, { recursive: true });

let browser: Promise<Browser> | undefined;
after(async () => (await browser)?.close());

/** Opens a browser window with an empty profile. At the end of the test nothing may have gone wrong in it. */
export async function open(t: TestContext, { complaints = /^$/, language = "en-GB", width = 1280 }: Options = {}): Promise<Page> {
  browser ??= chromium.launch({
    executablePath: ["/usr/bin/chromium", "/usr/bin/google-chrome", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"].find(existsSync) ?? "chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
  const context = await (await browser).newContext({ viewport: { width, height: 800 }, locale: language, reducedMotion: "reduce" });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000); // a busy machine takes its time
  const wrong: string[] = [];
  page.on("console", (message) => void (message.type() === "error" && !complaints.test(message.text()) && wrong.push(message.text())));
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("request", (request) => void (/^(data|blob):/.test(request.url()) || new URL(request.url()).host === new URL(url).host || wrong.push(`asked ${request.url()}`)));
  await page.addInitScript(() => document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) => console.error("refused by the policy:", violatedDirective, blockedURI)));
  t.after(async () => {
    if (pictures) await page.screenshot({ path: join(pictures, `end of ${t.name.replace(/\W+/g, "-")}.png`) });
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await context.close();
    assert.deepEqual(wrong, []);
  });
  return page;
}

/** Signs somebody in, and waits for the first screen, or for the one that was asked for. */
export async function signIn(page: Page, { email, password }: Person, path = "/console/"): Promise<void> {
  await page.goto(url + path);
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Account" }).waitFor();
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Looks at the screen as it is, in both themes, for what people with assistive programs could not use. */
export async function accessible(page: Page, name: string): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor();
    if (pictures) await page.screenshot({ path: join(pictures, `${name}-${colorScheme}.png`) });
    const violations = await page.evaluate(`${axe}; axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html, failureSummary }) => html.slice(0, 200) + " " + failureSummary).join("; ")))`);
    assert.deepEqual(violations, [], `${name}, ${colorScheme}`);
  }
}

/** The newest link that somebody was sent by mail, once there is one. */
export async function linkFor(email: string): Promise<string> {
  const folder = setting("MAILS");
  for (let tries = 0; tries < 100; tries++) {
    const mails = existsSync(folder) ? readdirSync(folder).sort().reverse() : [];
    for (const name of mails) {
      const mail = readFileSync(join(folder, name), "utf8").replace(/=\r?\n/g, "").replace(/=([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(parseInt(code, 16)));
      const link = new RegExp(`^To:.*${email}`, "mi").test(mail) && /https?:\/\/\S+#\S+/.exec(mail)?.[0];
      if (link) return link;
    }
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error(`${email} was sent no link`);
}
