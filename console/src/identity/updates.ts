import type { Cache, UpdatesConfig } from "@urql/exchange-graphcache";
import { forget } from "../graph/stale";

/** Has what the caller's own company has asked for again. */
function ofCompany(field: string) {
  return (_: unknown, __: unknown, cache: Cache) => {
    const me = cache.resolve("Query", "me");
    const company = typeof me === "string" ? cache.resolve(me, "customer") : undefined;
    if (typeof company === "string") forget(cache, company, [field]);
  };
}

/** What changes of identity providers and directories make stale. */
export const identityUpdates: UpdatesConfig[string] = {
  createIdentityProvider: ofCompany("identityProviders"),
  deleteIdentityProvider: ofCompany("identityProviders"),
  createScimToken: ofCompany("scimTokens"),
  deleteScimToken: ofCompany("scimTokens"),
};
