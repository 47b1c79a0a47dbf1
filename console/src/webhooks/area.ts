import { IconSend, IconWebhook } from "@tabler/icons-react";
import { type Area, finder } from "../app/area";
import type { Text } from "../text";
import { statuses } from "./address";
import { FindDeliveries, FindDestinations, FindEvents } from "./webhooks.gql";

// Of a word that is in very many names, such as "created".
const mostEvents = 5;

export const webhooks: Area = {
  entries: [{ to: "/webhooks", label: (text) => text.webhooks.title, icon: IconWebhook, needs: ["webhook.read"] }],
  places: [
    { to: "/webhooks/deliveries", label: (text) => text.webhooks.lists.deliveries, part: (text) => text.webhooks.title, needs: "webhook.read" },
    ...statuses.map((status) => ({
      to: `/webhooks/deliveries?status=${status}`, label: ({ webhooks }: Text) => `${webhooks.lists.deliveries}: ${webhooks.statuses[status]}`, part: (text: Text) => text.webhooks.title, needs: "webhook.read" as const,
    })),
    { to: "/webhooks/destinations/new", label: (text) => text.webhooks.add, part: (text) => text.webhooks.title, needs: "webhook.write" },
    { to: "/webhooks/destinations/portal-link", label: (text) => text.webhooks.portalLink.title, part: (text) => text.webhooks.title, needs: "key.write" },
    { to: "/webhooks/events", label: (text) => text.webhooks.lists.events, part: (text) => text.webhooks.title, needs: "webhook.read" },
  ],
  finders: [
    finder({
      needs: "webhook.read",
      icon: IconWebhook,
      document: FindDestinations,
      hits: ({ search }, { webhooks }) => search.flatMap((hit) => ("url" in hit ? [
        { to: `/webhooks/destinations/${hit.databaseId}`, title: hit.name || hit.url, detail: hit.url },
        { to: `/webhooks/deliveries?destination=${hit.databaseId}`, title: `${webhooks.lists.deliveries}: ${hit.name || hit.url}`, detail: hit.url, icon: IconSend },
      ] : [])),
    }),
    finder({
      needs: "webhook.read",
      icon: IconSend,
      document: FindEvents,
      hits: ({ webhookCatalog: { events } }, { webhooks }, words) => events.filter(({ type }) => type.toLowerCase().includes(words.toLowerCase())).slice(0, mostEvents)
        .map(({ type }) => ({ to: `/webhooks/deliveries?type=${encodeURIComponent(type)}`, title: `${webhooks.lists.deliveries}: ${type}`, detail: webhooks.type })),
    }),
    finder({
      needs: "webhook.read",
      icon: IconSend,
      document: FindDeliveries,
      hits: ({ search }) => search.flatMap((hit) => ("eventId" in hit ? { to: `/webhooks/deliveries/${hit.databaseId}`, title: hit.type, detail: hit.eventId } : [])),
    }),
  ],
};
