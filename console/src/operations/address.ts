import type { Time } from "../ui/since";
import type { ActorKind } from "./who";

/** What is counted of companies, and compared. */
export const measures = ["RUNS_PER_DAY", "CONCURRENT_RUNS", "DELIVERIES_PER_DAY", "MAILS_PER_DAY", "EMBEDDING_TOKENS_PER_DAY", "STORAGE_BYTES", "DOCUMENTS", "USERS", "CUSTOMERS"] as const;

export interface OperationsSearch {
  by?: (typeof measures)[number] | undefined;
}

export interface AuditSearch {
  action?: string | undefined;
  /** Who has done it. */
  actor?: number | undefined;
  /** What kind of actor has done it. */
  kind?: ActorKind | undefined;
  company?: number | undefined;
  /** What it was done to: Type:id, or Type alone. */
  object?: string | undefined;
  /** Only what did not succeed. */
  outcome?: "failed" | undefined;
  time?: Time | undefined;
  /** From this moment on, and before that one, in place of a time that goes with the clock. */
  since?: string | undefined;
  until?: string | undefined;
}
