import type { Cache, UpdatesConfig } from "@urql/exchange-graphcache";
import { forget, staleQueries } from "../graph/stale";

/** Has the numbers of documents of all contexts that are known asked for again. */
function recount(cache: Cache): void {
  forget(cache, "Query", ["documents", "search"]);
  for (const { fieldKey } of cache.inspectFields("Query").filter(({ fieldName }) => fieldName === "context")) {
    const key = cache.resolve("Query", fieldKey);
    if (typeof key === "string") forget(cache, key, ["documents", "deletedDocuments"]);
  }
}

/** What changes of contexts and their documents make stale. */
export const contextUpdates: UpdatesConfig[string] = {
  createContext: staleQueries("contexts", "search"),
  updateContext: staleQueries("contexts", "search"),
  shareContext: staleQueries("contexts"),
  restoreContext: staleQueries("context", "contexts", "deletedContexts", "documents", "search"),
  deleteContext: staleQueries("contexts", "deletedContexts", "documents", "search"),
  deleteDocument: (_, __, cache) => recount(cache),
  restoreDocument: (_, __, cache) => recount(cache),
  reprocessDocument: (_, __, cache) => recount(cache),
  reprocessContext: (_, __, cache) => recount(cache),
};
