import { cacheExchange } from "@urql/exchange-graphcache";
import type { Canopy } from "canopy-client";
import { Client } from "urql";
import { canopy } from "../session/session";
import { sessionHeard } from "../session/updates";
import { overCanopy } from "./exchange";
import { optimistic } from "./optimistic";
import { updates } from "./updates";

// Objects with a global id are kept once, by that; all others belong to what they hang from.
const keys = new Proxy({}, {
  get: () => ({ id }: { id?: string | null }) => id ?? null,
});

/** A client of the graph with a cache of its own: what one company's member saw is not shown to that of another. */
export function newClient(as: Canopy = canopy): Client {
  return new Client({
    url: `${location.origin}/graphql`,
    preferGetMethod: false,
    exchanges: [cacheExchange({ keys, updates: { Mutation: updates, Subscription: sessionHeard }, optimistic }), overCanopy(as)],
  });
}
