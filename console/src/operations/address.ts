import type { Time } from "../ui/since";

/** What is counted of companies, and compared. */
export const measures = ["RUNS_PER_DAY", "CONCURRENT_RUNS", "DELIVERIES_PER_DAY", "MAILS_PER_DAY", "EMBEDDING_TOKENS_PER_DAY", "STORAGE_BYTES", "DOCUMENTS", "USERS", "CUSTOMERS"] as const;

export interface OperationsSearch {
  by?: (typeof measures)[number] | undefined;
}

export interface AuditSearch {
  action?: string | undefined;
  /** Who has done it. */
  actor?: number | undefined;
  company?: number | undefined;
  /** What it was done to, as Type:id. */
  object?: string | undefined;
  time?: Time | undefined;
}
