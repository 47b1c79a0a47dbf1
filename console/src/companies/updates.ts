import type { Cache, UpdatesConfig } from "@urql/exchange-graphcache";
import { forget } from "../graph/stale";

/** Has the lists of companies below one asked for again, and those over all. */
function childrenOf(cache: Cache, parentId: string | undefined): void {
  if (parentId) forget(cache, cache.keyOfEntity({ __typename: "Customer", id: parentId })!, ["children", "descendants", "usage"]);
  forget(cache, "Query", ["customers", "search"]);
}

/** What changes of companies make stale. */
export const companyUpdates: UpdatesConfig[string] = {
  createCustomer: (result, _, cache) => {
    const made = result.createCustomer as { customer: { parent: { id: string } | null } } | null;
    childrenOf(cache, made?.customer.parent?.id);
    forget(cache, "Query", ["users"]);
  },
  updateCustomer: (_, __, cache) => forget(cache, "Query", ["customers", "search"]),
};
