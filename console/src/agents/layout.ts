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
}

const across = 230; // pixels from one part to the next
const down = 120;

/**
 * Places the parts in rows. A step stands below those that it reads, and no higher than the one before it: what stands beside each
 * other does not need each other, and runs from left to right.
 */
export function layout(steps: readonly JsonObject[], check: Check | undefined): { parts: Part[]; lines: Line[] } {
  const places = new Map(steps.map((step, at) => [nameOf(step, at), at]));
  const reads = steps.map((_, at) => (check?.steps[at]?.steps ?? []).flatMap((name) => places.get(name) ?? []).filter((from) => from < at));
  const rows: number[] = [];
  steps.forEach((_, at) => rows.push(Math.max(1, rows[at - 1] ?? 1, ...reads[at]!.map((from) => rows[from]! + 1))));
  const bottom = Math.max(0, ...rows) + 1;
  const widths = rows.reduce((count, row) => count.set(row, (count.get(row) ?? 0) + 1), new Map<number, number>());
  const placed = new Map<number, number>();
  const parts: Part[] = [{ id: "input", kind: "input", at: -1, x: 0, y: 0 }];
  rows.forEach((row, at) => {
    const place = placed.get(row) ?? 0;
    placed.set(row, place + 1);
    parts.push({ id: String(at), kind: "step", at, x: (place - (widths.get(row)! - 1) / 2) * across, y: row * down });
  });
  parts.push({ id: "output", kind: "output", at: steps.length, x: 0, y: bottom * down });

  const feeds = (from: string, to: string): Line => ({ from, to, feeds: true, sideways: false });
  const lines: Line[] = [];
  steps.forEach((_, at) => {
    if ((check?.steps[at]?.input ?? []).length > 0) lines.push(feeds("input", String(at)));
    reads[at]!.forEach((from) => lines.push(feeds(String(from), String(at))));
    if (at > 0 && !reads[at]!.includes(at - 1)) lines.push({ from: String(at - 1), to: String(at), feeds: false, sideways: rows[at] === rows[at - 1] });
  });
  if ((check?.output.input ?? []).length > 0) lines.push(feeds("input", "output"));
  (check?.output.steps ?? []).forEach((name) => void (places.has(name) && lines.push(feeds(String(places.get(name)), "output"))));
  return { parts, lines };
}
