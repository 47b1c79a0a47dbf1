// A window of a browser, and what must hold in it whatever a test does.
import assert from "node:assert/strict";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, type TestContext } from "node:test";
import { type Browser, chromium, type Page } from "playwright-core";

export interface Options {
  /** What the browser may complain of: failures that the test brings about, which browsers write into their logs. */
  complaints?: RegExp;
  language?: string;
  width?: number;
  /** Whether certificates are believed that nobody vouches for. */
  insecure?: boolean;
  /** Whether it is a touch screen, as a telephone has, whose keyboard covers a part of it. */
  touch?: boolean;
}

/** What the tests in Go say of the platform that they have started. */
export function setting(name: string): string {
  const value = process.env[`CANOPY_${name}`];
  if (value === undefined) throw new Error(`CANOPY_${name} is not set: make test-browser and make clients run these tests`);
  return value;
}

/** A folder for pictures of the screens, where they are wanted. */
const pictures = process.env.CANOPY_SCREENSHOTS;
if (pictures) mkdirSync(pictures, { recursive: true });

/** Keeps a picture of the screen, where pictures are wanted. */
export async function keep(page: Page, name: string): Promise<void> {
  if (pictures) await page.screenshot({ path: join(pictures, `${name}.png`) });
}

/** How the browser is started. */
export const program = {
  executablePath: ["/usr/bin/chromium", "/usr/bin/google-chrome", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"].find(existsSync) ?? "chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
};

let browser: Promise<Browser> | undefined;
after(async () => (await browser)?.close());

/**
 * Opens a browser window with an empty profile, for pages that ask nobody but some addresses. At the end of the test nothing may have
 * gone wrong in it, nor in the tabs that it has got.
 */
export async function openFor(t: TestContext, addresses: readonly string[], { complaints = /^$/, language = "en-GB", width = 1280, insecure = false, touch = false }: Options = {}): Promise<Page> {
  browser ??= chromium.launch(program);
  const context = await (await browser).newContext({ viewport: { width, height: 800 }, locale: language, reducedMotion: "reduce", ignoreHTTPSErrors: insecure, hasTouch: touch, isMobile: touch });
  context.setDefaultTimeout(60_000); // a busy machine takes its time
  const hosts = addresses.map((address) => new URL(address).host);
  const wrong: string[] = [];
  context.on("console", (message) => void (message.type() === "error" && !complaints.test(message.text()) && wrong.push(message.text())));
  context.on("weberror", (error) => void wrong.push(String(error.error())));
  // A PDF is shown by a page of the browser's own.
  context.on("request", (request) => void (/^(data|blob|chrome|chrome-extension):/.test(request.url()) || hosts.includes(new URL(request.url()).host) || wrong.push(`asked ${request.url()}`)));
  await context.addInitScript(() => document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) => console.error("refused by the policy:", violatedDirective, blockedURI)));
  const page = await context.newPage();
  t.after(async () => {
    await keep(page, `end of ${t.name.replace(/\W+/g, "-")}`);
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await context.close();
    assert.deepEqual(wrong, []);
  });
  return page;
}
