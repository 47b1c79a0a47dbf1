import type { Cache, UpdatesConfig } from "@urql/exchange-graphcache";
import { forgetOfCompanies } from "../graph/stale";

const ofCompany = (field: string) => (_: unknown, __: unknown, cache: Cache) => forgetOfCompanies(cache, field);

/** What changes of identity providers and directories make stale. */
export const identityUpdates: UpdatesConfig[string] = {
  createIdentityProvider: ofCompany("identityProviders"),
  deleteIdentityProvider: ofCompany("identityProviders"),
  createScimToken: ofCompany("scimTokens"),
  deleteScimToken: ofCompany("scimTokens"),
};
