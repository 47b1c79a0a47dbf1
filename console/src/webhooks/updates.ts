import type { Cache, UpdatesConfig } from "@urql/exchange-graphcache";
import { forget, staleQueries } from "../graph/stale";

/** Has the deliveries to every destination, and what is counted of them, asked for again. */
function deliveriesOf(cache: Cache): void {
  forget(cache, "Query", ["webhookDeliveries", "webhookDestinations", "webhookDestination"]);
}

/** What changes of destinations and deliveries make stale. */
export const webhookUpdates: UpdatesConfig[string] = {
  createWebhookDestination: staleQueries("webhookDestinations", "search"),
  deleteWebhookDestination: staleQueries("webhookDestinations", "webhookDestination", "webhookDeliveries", "search"),
  restoreWebhookDestination: staleQueries("webhookDestinations", "webhookDestination", "webhookDeliveries", "search"),
  testWebhookDestination: (_, __, cache) => deliveriesOf(cache),
  resendWebhookDelivery: (_, __, cache) => deliveriesOf(cache),
  recoverWebhookDeliveries: (_, __, cache) => deliveriesOf(cache),
};
