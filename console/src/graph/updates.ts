import type { UpdatesConfig } from "@urql/exchange-graphcache";
import { agentUpdates } from "../agents/updates";
import { companyUpdates } from "../companies/updates";
import { contextUpdates } from "../contexts/updates";
import { identityUpdates } from "../identity/updates";
import { keyUpdates } from "../keys/updates";
import { peopleUpdates } from "../people/updates";
import { sessionUpdates } from "../session/updates";
import { webhookUpdates } from "../webhooks/updates";

/** What each mutation makes stale besides the objects that it gives. One line for each area. */
export const updates: UpdatesConfig[string] = {
  ...sessionUpdates,
  ...companyUpdates,
  ...peopleUpdates,
  ...contextUpdates,
  ...agentUpdates,
  ...keyUpdates,
  ...identityUpdates,
  ...webhookUpdates,
};
