import { IconSend, IconWebhook } from "@tabler/icons-react";
import { type Area, finder } from "../app/area";
import { FindDeliveries, FindDestinations } from "./webhooks.gql";

export const webhooks: Area = {
  entries: [{ to: "/webhooks", label: (text) => text.webhooks.title, icon: IconWebhook, needs: ["webhook.read"] }],
  places: [
    { to: "/webhooks/deliveries", label: (text) => text.webhooks.lists.deliveries, part: (text) => text.webhooks.title, needs: "webhook.read" },
    { to: "/webhooks/events", label: (text) => text.webhooks.lists.events, part: (text) => text.webhooks.title, needs: "webhook.read" },
  ],
  finders: [
    finder({
      needs: "webhook.read",
      icon: IconWebhook,
      document: FindDestinations,
      hits: ({ search }) => search.flatMap((hit) => ("url" in hit ? { to: `/webhooks/destinations/${hit.databaseId}`, title: hit.name || hit.url, detail: hit.url } : [])),
    }),
    finder({
      needs: "webhook.read",
      icon: IconSend,
      document: FindDeliveries,
      hits: ({ search }) => search.flatMap((hit) => ("eventId" in hit ? { to: `/webhooks/deliveries/${hit.databaseId}`, title: hit.type, detail: hit.eventId } : [])),
    }),
  ],
};
