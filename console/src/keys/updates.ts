import type { UpdatesConfig } from "@urql/exchange-graphcache";
import { staleQueries } from "../graph/stale";

/** What changes of keys make stale. */
export const keyUpdates: UpdatesConfig[string] = {
  createApiKey: staleQueries("me"),
};
