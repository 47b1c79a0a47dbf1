import { isObject, type Json, type JsonObject } from "./value";

export const types = ["set", "search", "ask", "chat", "http", "fail"] as const;
export type StepType = (typeof types)[number];

/** What is chosen in a diagram: a step by its place, or the output. */
export type Chosen = number | "output";

/** Changes a diagram: its steps, or its output. */
export type Change = (edit: (diagram: { steps: JsonObject[]; output: Json }) => { steps: JsonObject[]; output: Json }) => void;

/** The steps of a draft. What is not an object is shown as an empty one: the platform tells that it is none. */
export function stepsOf(draft: Json | undefined): JsonObject[] {
  return isObject(draft) && Array.isArray(draft.steps) ? draft.steps.map((step) => (isObject(step) ? step : {})) : [];
}

export function outputOf(draft: Json | undefined): Json {
  return isObject(draft) && draft.output !== undefined ? draft.output : {};
}

export function nameOf(step: JsonObject, at: number): string {
  return typeof step.id === "string" && step.id !== "" ? step.id : String(at + 1);
}

const fresh: Record<StepType, JsonObject> = {
  set: { values: {} },
  search: { contextId: "{{ input.context }}", prompt: "{{ input.question }}", topN: 3 },
  ask: { contextId: "{{ input.context }}", prompt: "{{ input.question }}" },
  chat: { prompt: "{{ input.question }}" },
  http: { url: "https://example.com/" },
  fail: { message: "" },
};

/** A new step of a type, with an id that none of the others has. */
export function newStep(type: StepType, others: readonly JsonObject[]): JsonObject {
  return { id: freeId(type, others), type, ...fresh[type] };
}

export function freeId(begin: string, others: readonly JsonObject[]): string {
  const taken = new Set(others.map(({ id }) => id));
  for (let n = 1; ; n++) {
    const id = n === 1 ? begin : `${begin}${n}`;
    if (!taken.has(id)) return id;
  }
}

/** A list with something at another place. */
export function moved<T>(list: readonly T[], from: number, to: number): T[] {
  const rest = list.filter((_, index) => index !== from);
  return [...rest.slice(0, to), list[from]!, ...rest.slice(to)];
}

// Where a step takes in what another gave, by its type.
const intake: Record<string, string> = { search: "prompt", ask: "prompt", chat: "prompt", http: "body", fail: "message" };

/** A diagram where one step, or the output, reads what another one gave. A step that came before that one follows it from then on. */
export function connected({ steps, output }: { steps: JsonObject[]; output: Json }, from: number, to: number | "output"): { steps: JsonObject[]; output: Json } {
  const id = String(steps[from]?.id ?? "");
  const read = `{{ steps.${id} }}`;
  if (to === "output") return { steps, output: { ...(isObject(output) ? output : {}), [id]: read } };
  const step = steps[to]!;
  const field = intake[String(step.type)];
  const before = field === undefined ? undefined : step[field];
  const next = field === undefined
    ? { ...step, values: { ...(isObject(step.values) ? step.values : {}), [id]: read } }
    : { ...step, [field]: typeof before === "string" && before !== "" ? `${before} ${read}` : isObject(before) ? { ...before, [id]: read } : read };
  const changed = steps.map((one, index) => (index === to ? next : one));
  return { steps: to < from ? moved(changed, to, from) : changed, output };
}
