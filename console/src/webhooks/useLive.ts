import { useHeard } from "../graph/useHeard";
import { DeliveryMoved, type DeliveryMovedResult } from "./webhooks.gql";

export type Moved = DeliveryMovedResult["webhookDeliveryUpdated"];

/** Hears that deliveries to destinations have moved on, or that they may have. */
export function useLive(destinationIds: readonly string[], changed: (moved: readonly Moved[]) => void): void {
  useHeard(DeliveryMoved, destinationIds.map((destinationId) => ({ destinationId })), (heard) => changed(heard.map(({ webhookDeliveryUpdated }) => webhookDeliveryUpdated)));
}
