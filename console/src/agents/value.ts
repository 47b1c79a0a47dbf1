/** What JSON can say. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type JsonObject = { [name: string]: Json };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// What stands first in a step, where it is there.
const first = ["steps", "output", "id", "type", "when"];

/** Writes JSON to be read by people: the same value is the same text. */
export function written(value: unknown): string {
  return JSON.stringify(inOrder(value as Json), null, 2) ?? "null";
}

function inOrder(value: Json): Json {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isObject(value)) return value;
  const rank = (name: string) => (first.indexOf(name) + first.length + 1) % (first.length + 1);
  const names = Object.keys(value).sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  return Object.fromEntries(names.map((name) => [name, inOrder(value[name]!)]));
}

/** Reads JSON; undefined where it is none. */
export function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
