import type { Cache, UpdatesConfig } from "@urql/exchange-graphcache";
import { forget, staleQueries } from "../graph/stale";

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
  deleteCustomer: (result, _, cache) => {
    const gone = result.deleteCustomer as { customer: { parent: { id: string } | null } | null } | null;
    childrenOf(cache, gone?.customer?.parent?.id);
  },
  restoreCustomer: (result, _, cache) => {
    const back = result.restoreCustomer as { customer: { parent: { id: string } | null } } | null;
    childrenOf(cache, back?.customer.parent?.id);
  },
  // It is gone from one list and new in another, and what is below goes by another path.
  moveCustomer: staleQueries("customer", "customers", "search"),
  saveBilling: (_, { input }, cache) => {
    const { customerId } = input as { customerId: string };
    forget(cache, cache.keyOfEntity({ __typename: "Customer", id: customerId })!, ["billing"]);
  },
  updateCustomer: (_, __, cache) => forget(cache, "Query", ["customers", "search"]),
};
