import { nameOf } from "./steps";
import type { Check } from "./useCheck";
import type { JsonObject } from "./value";

/** A part of the drawing and where it stands. */
export interface Part {
  id: string;
  kind: "input" | "step" | "output";
  at: number;
  x: number;
  y: number;
}

/** A line: what one part gives and another reads, or that one just comes after the other. */
export interface Line {
  from: string;
  to: string;
  feeds: boolean;
  sideways: boolean;
  /** Where it passes the rows between, so that it runs behind no part: the upper end of each way down. */
  via: { x: number; y: number }[];
}

/** A part has one size, in pixels. */
export const size = { width: 200, height: 48 };
const across = size.width + 30; // from one part to the next
const down = 120;
const lane = 28; // for lines that pass a row
const middle = size.width / 2;

/**
 * Places the parts in rows. A step stands below those that it reads, and no higher than the one before it: what stands beside each
 * other does not need each other, and runs from left to right. What passes a row does so to the left of its parts.
 */
export function layout(steps: readonly JsonObject[], check: Check | undefined): { parts: Part[]; lines: Line[] } {
  const places = new Map(steps.map((step, at) => [nameOf(step, at), at]));
  const reads = steps.map((_, at) => (check?.steps[at]?.steps ?? []).flatMap((name) => places.get(name) ?? []).filter((from) => from < at));
  const rows: number[] = [];
  steps.forEach((_, at) => rows.push(Math.max(1, rows[at - 1] ?? 1, ...reads[at]!.map((from) => rows[from]! + 1))));
  const bottom = Math.max(0, ...rows) + 1;
  const input = -1;
  const rowOf = (at: number) => (at === input ? 0 : rows[at] ?? bottom);
  const outputReads = (check?.output.steps ?? []).flatMap((name) => places.get(name) ?? []);
  const fed = steps.flatMap((_, at): [number, number][] => [...((check?.steps[at]?.input ?? []).length > 0 ? [input] : []), ...reads[at]!].map((from) => [from, at]));
  fed.push(...[...((check?.output.input ?? []).length > 0 ? [input] : []), ...outputReads].map((from): [number, number] => [from, steps.length]));
  // What gives to rows further down passes those between, once however many read it.
  const passing = new Map<number, number[]>();
  for (const [from, to] of fed) {
    for (let row = rowOf(from) + 1; row < rowOf(to); row++) passing.set(row, [...new Set([...(passing.get(row) ?? []), from])].sort((one, other) => one - other));
  }
  const lanes = (row: number) => passing.get(row) ?? [];
  const widths = rows.reduce((count, row) => count.set(row, (count.get(row) ?? 0) + 1), new Map<number, number>());
  const left = (row: number) => middle - (lanes(row).length * lane + (widths.get(row) ?? 0) * across - across + size.width) / 2;
  const placed = new Map<number, number>();
  const parts: Part[] = [{ id: "input", kind: "input", at: -1, x: 0, y: 0 }];
  rows.forEach((row, at) => {
    const place = placed.get(row) ?? 0;
    placed.set(row, place + 1);
    parts.push({ id: String(at), kind: "step", at, x: left(row) + lanes(row).length * lane + place * across, y: row * down });
  });
  parts.push({ id: "output", kind: "output", at: steps.length, x: 0, y: bottom * down });

  const name = (at: number) => (at === input ? "input" : at === steps.length ? "output" : String(at));
  const lines = fed.map(([from, to]): Line => ({
    from: name(from), to: name(to), feeds: true, sideways: false,
    via: Array.from({ length: Math.max(0, rowOf(to) - rowOf(from) - 1) }, (_, between) => rowOf(from) + 1 + between)
      .map((row) => ({ x: left(row) + (lanes(row).indexOf(from) + 0.5) * lane, y: row * down })),
  }));
  steps.forEach((_, at) => {
    if (at > 0 && !reads[at]!.includes(at - 1)) lines.push({ from: name(at - 1), to: name(at), feeds: false, sideways: rows[at] === rows[at - 1], via: [] });
  });
  return { parts, lines };
}
