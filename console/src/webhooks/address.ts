import type { Time } from "../ui/since";

export interface DestinationsSearch {
  /** The company whose destinations are shown; the caller's own without it. */
  company?: number | undefined;
}

export const statuses = ["pending", "delivered", "failed", "blocked"] as const;

export interface DeliveriesSearch extends DestinationsSearch {
  destination?: number | undefined;
  status?: (typeof statuses)[number] | undefined;
  type?: string | undefined;
  time?: Time | undefined;
}

export interface EventsSearch {
  find?: string | undefined;
}
