import type { Cache, UpdatesConfig } from "@urql/exchange-graphcache";
import { forget, forgetOfCompanies, staleQueries } from "../graph/stale";

/** Has the deliveries to every destination, and what is counted of them, asked for again. */
function deliveriesOf(cache: Cache): void {
  forget(cache, "Query", ["webhookDeliveries", "webhookDestinations", "webhookDestination"]);
}

/** Has asked for again what depends on whether a destination is there, of whichever company. */
function there(cache: Cache): void {
  deliveriesOf(cache);
  forget(cache, "Query", ["search"]);
  forgetOfCompanies(cache, "deletedWebhookDestinations");
}

/** What changes of destinations and deliveries make stale. */
export const webhookUpdates: UpdatesConfig[string] = {
  createWebhookDestination: staleQueries("webhookDestinations", "search"),
  deleteWebhookDestination: (_, __, cache) => there(cache),
  restoreWebhookDestination: (_, __, cache) => there(cache),
  testWebhookDestination: (_, __, cache) => deliveriesOf(cache),
  resendWebhookDelivery: (_, __, cache) => deliveriesOf(cache),
  recoverWebhookDeliveries: (_, __, cache) => deliveriesOf(cache),
};
