import type { Time } from "../ui/since";

export const states = ["runnable", "unpublished", "disabled"] as const;
export const agentOrders = ["name", "newest"] as const;

export interface AgentsSearch {
  find?: string | undefined;
  state?: (typeof states)[number] | undefined;
  order?: (typeof agentOrders)[number] | undefined;
  /** The company whose agents are shown; the caller's own without it. */
  company?: number | undefined;
}

export const statuses = ["running", "finished", "failed"] as const;

export interface RunsSearch {
  agent?: number | undefined;
  status?: (typeof statuses)[number] | undefined;
  time?: Time | undefined;
}

export interface RevisionsSearch {
  /** The global id of the revision that is shown. */
  revision?: string | undefined;
}

export interface TestSearch {
  /** The run that is shown. */
  run?: string | undefined;
}

export const views = ["drawing", "both", "json"] as const;

export interface DiagramSearch {
  /** How the diagram is shown; drawn without it. */
  view?: (typeof views)[number] | undefined;
  /** What is chosen: a step by its number, from 1, or the output; the first step without it. */
  step?: number | "output" | undefined;
}
