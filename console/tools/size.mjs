// Fails where what a browser loads before the first screen is more than it may be, compressed as the platform compresses it: the page's
// scripts and style sheets, the frame, and the first screen. What other screens need is loaded with them.
import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const most = 250_000; // bytes

const dist = new URL("../dist/", import.meta.url);
const assets = new URL("assets/", dist);
const text = new Map(readdirSync(assets).map((name) => [name, readFileSync(new URL(name, assets), "utf8")]));

/** A chunk with all that it imports. */
function closure(name, into = new Set()) {
  if (into.has(name) || !text.has(name)) return into;
  into.add(name);
  for (const [, next] of text.get(name).matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g)) closure(next, into);
  return into;
}

const size = (names) => [...names].reduce((sum, name) => sum + gzipSync(text.get(name), { level: 9 }).length, 0);

const page = [...readFileSync(new URL("index.html", dist), "utf8").matchAll(/"\/console\/assets\/([^"]+)"/g)].flatMap(([, name]) => [...closure(name)]);
const frame = [...text.keys()].filter((name) => name.startsWith("Shell-")).flatMap((name) => [...closure(name)]);
const home = [...text.keys()].filter((name) => name.startsWith("Home-")).flatMap((name) => [...closure(name)]);
const all = size(new Set([...page, ...frame, ...home]));
console.log(`${size(new Set(page))} bytes for the page, ${all} with the frame and the first screen, of ${most}`);
if (page.length === 0 || frame.length === 0 || home.length === 0 || all > most) process.exit(1);
