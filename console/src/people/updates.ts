import type { UpdatesConfig } from "@urql/exchange-graphcache";
import { staleQueries } from "../graph/stale";

/** What changes of people make stale. */
export const peopleUpdates: UpdatesConfig[string] = {
  createUsers: staleQueries("users", "search"),
};
