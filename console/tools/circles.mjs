// Fails where modules import each other in a circle, be it types alone: such have to be read together. What is loaded when it is needed is no circle.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const root = new URL("../src/", import.meta.url).pathname;
const files = readdirSync(root, { recursive: true }).filter((name) => /\.tsx?$/.test(name)).map((name) => join(root, name));

function imports(file) {
  return [...readFileSync(file, "utf8").matchAll(/^(?:import|export) (?:[^;"]* from )?"(\.[^"]*)";/gm)]
    .flatMap(([, to]) => ["", ".ts", ".tsx", "/index.ts", "/index.tsx"].map((end) => join(dirname(file), to) + end).find((path) => /\.tsx?$/.test(path) && existsSync(path)) ?? []);
}

const done = new Set();

/** Follows what a file imports; way is how it was come to. */
function follow(file, way) {
  if (way.includes(file)) return [[...way.slice(way.indexOf(file)), file]];
  if (done.has(file)) return [];
  const found = imports(file).flatMap((next) => follow(next, [...way, file]));
  done.add(file);
  return found;
}

const circles = files.flatMap((file) => follow(file, []));
for (const circle of circles) console.error(`a circle of imports: ${circle.map((file) => relative(root, file)).join(" -> ")}`);
if (files.length === 0 || circles.length > 0) process.exit(1);
