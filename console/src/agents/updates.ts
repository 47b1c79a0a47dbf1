import type { Cache, UpdatesConfig } from "@urql/exchange-graphcache";
import { forget, forgetOfCompanies, staleQueries } from "../graph/stale";

/** Has the lists of agents asked for again, those of every company that was looked at. */
function listed(_: unknown, __: unknown, cache: Cache): void {
  forgetOfCompanies(cache, "agents");
  forget(cache, "Query", ["search"]);
}

/** Has asked for again what depends on whether an agent is there. */
function there(result: unknown, args: unknown, cache: Cache): void {
  listed(result, args, cache);
  forgetOfCompanies(cache, "deletedAgents");
  forget(cache, "Query", ["agent", "runs", "run"]);
}

/** What changes of agents and runs make stale. */
export const agentUpdates: UpdatesConfig[string] = {
  createAgent: listed,
  updateAgent: listed,
  publishAgent: (result, _, cache) => {
    listed(result, _, cache);
    const made = result.publishAgent as { agent: { id: string } } | null;
    if (made) forget(cache, cache.keyOfEntity({ __typename: "Agent", id: made.agent.id })!, ["revisions"]);
  },
  unpublishAgent: listed,
  enableAgent: listed,
  disableAgent: listed,
  deleteAgent: there,
  restoreAgent: there,
  createSecret: (_, __, cache) => forgetOfCompanies(cache, "secrets"),
  updateSecret: (_, __, cache) => forgetOfCompanies(cache, "secrets"),
  deleteSecret: (_, __, cache) => forgetOfCompanies(cache, "secrets", "deletedSecrets"),
  restoreSecret: (_, __, cache) => forgetOfCompanies(cache, "secrets", "deletedSecrets"),
  startRun: staleQueries("runs"),
  cancelRun: staleQueries("runs"),
};
