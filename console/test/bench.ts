// How quick the console is in a browser: `make bench-browser`. Each figure is one line of JSON: {"name", "value"}; times in ms.
import test from "node:test";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { program } from "./browser.js";
import { ada, signIn, url } from "./visit.js";

const rounds = 7;
// A tree has this many companies below one, of which so many are scrolled: when these alone are known, and when all are.
const rows = 100_000;
const scrolled = 10_000;
const height = 40; // pixels

const tell = (name: string, value: number) => console.log(JSON.stringify({ name, value: Math.round(value * 10) / 10 }));
const median = (list: number[]) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)]!;

/** Loads a page without any cache, and gives when it painted first, and when what it is for was there and answered. */
async function load(context: BrowserContext, path: string, sight: string): Promise<[paint: number, there: number]> {
  const page = await context.newPage();
  await (await context.newCDPSession(page)).send("Network.setCacheDisabled", { cacheDisabled: true });
  await page.addInitScript((sight) => {
    const look = () => {
      if (document.querySelector(sight)) setTimeout(() => Object.assign(window, { thereAt: performance.now() }));
      else requestAnimationFrame(look);
    };
    look();
  }, sight);
  await page.goto(url + path);
  await page.waitForFunction(() => "thereAt" in window && performance.getEntriesByName("first-contentful-paint").length > 0);
  const times = await page.evaluate((): [number, number] => [performance.getEntriesByName("first-contentful-paint")[0]!.startTime, (window as never as { thereAt: number }).thereAt]);
  await page.close();
  return times;
}

/** Goes to another page by its link, and gives how long it took until that is shown. */
async function go(page: Page, link: string, sight: string): Promise<number> {
  return page.evaluate(([link, sight]) => new Promise<number>((done) => {
    const begun = performance.now();
    document.querySelector<HTMLElement>(`nav a[href="${link}"]`)!.click();
    const look = () => (document.querySelector(sight!) ? requestAnimationFrame(() => done(performance.now() - begun)) : requestAnimationFrame(look));
    look();
  }), [link, sight]);
}

/** Scrolls so many rows of a list, so many pixels a frame; it waits for rows that are not there yet. */
async function scroll(page: Page, step: number, count: number): Promise<void> {
  await page.evaluate(([step, end]) => new Promise<void>((done) => {
    const list = document.querySelector(".rows")!;
    list.scrollTop = 0;
    const move = () => {
      list.scrollTop += step!;
      if (list.scrollTop + list.clientHeight >= end!) done();
      else requestAnimationFrame(move);
    };
    move();
  }), [step, count * height]);
}

interface Event {
  name: string;
  pid: number;
  tid: number;
  ts: number;
  /** Microseconds, and those of them that the thread had a processor for. */
  dur?: number;
  tdur?: number;
  args: { name?: string };
}

/** The longest task of the page's own thread in a trace, how long it had a processor, and the longest time between two frames, in ms. */
function longest(trace: Buffer): [task: number, work: number, frame: number] {
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: Event[] };
  const main = new Set(traceEvents.filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain").map(({ pid, tid }) => `${pid} ${tid}`));
  const tasks = traceEvents.filter(({ name, pid, tid }) => name.endsWith("RunTask") && main.has(`${pid} ${tid}`));
  const frames = traceEvents.filter(({ name }) => name === "DrawFrame").map(({ ts }) => ts).sort((a, b) => a - b);
  if (tasks.length === 0 || frames.length < 100) throw new Error(`the trace has ${tasks.length} tasks and ${frames.length} frames`);
  return [Math.max(...tasks.map(({ dur = 0 }) => dur)) / 1000, Math.max(...tasks.map(({ dur = 0, tdur = dur }) => tdur)) / 1000, Math.max(...frames.slice(1).map((at, place) => at - frames[place]!)) / 1000];
}

test("figures", async (t) => {
  const browser = await chromium.launch(program);
  t.after(() => browser.close());
  const windows = { viewport: { width: 1280, height: 800 }, locale: "en-GB" };
  const stranger = await browser.newContext(windows);
  const context = await browser.newContext(windows);
  const page = await context.newPage();
  await signIn(page, ada);
  for (const [name, path, sight, as] of [["sign-in", "/console/sign-in", "input[type=email]", stranger], ["first screen, signed in", "/console/", "nav a", context]] as const) {
    const times: [number, number][] = [];
    for (let round = 0; round < rounds; round++) times.push(await load(as, path, sight));
    tell(`${name}: first contentful paint`, median(times.map(([paint]) => paint)));
    tell(`${name}: interactive`, median(times.map(([, there]) => there)));
  }

  const ways: readonly (readonly [link: string, sight: string])[] = [["/console/people", "[role=listbox] [role=option]"], ["/console/companies", "[role=tree] [role=treeitem]"]];
  for (const way of ways) await go(page, ...way);
  const changes: number[] = [];
  for (let round = 0; round < rounds; round++) for (const way of ways) changes.push(await go(page, ...way));
  tell("route change with cached data", median(changes));
  tell("route change with cached data, the slowest", Math.max(...changes));

  await page.getByRole("treeitem", { name: "Wide" }).click();
  await page.getByRole("tree").press("ArrowRight");
  await page.getByRole("treeitem", { name: "Leaf 000001" }).waitFor();
  for (const known of [scrolled, rows]) {
    const begun = performance.now();
    await scroll(page, 3000, known); // so many rows are known now
    tell(`${known} rows below one company loaded, a page at a time`, performance.now() - begun);
    await browser.startTracing(page, { categories: ["toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline", "disabled-by-default-devtools.timeline.frame"] });
    await scroll(page, 400, scrolled);
    const [task, work, frame] = longest(await browser.stopTracing());
    tell(`${scrolled} of ${known} rows scrolled: longest task`, task);
    tell(`${scrolled} of ${known} rows scrolled: most that a task had of a processor`, work);
    tell(`${scrolled} of ${known} rows scrolled: longest time between two frames`, frame);
  }
});
