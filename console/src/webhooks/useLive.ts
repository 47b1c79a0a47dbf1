import { useEffect, useRef } from "react";
import { type AnyVariables, useClient } from "urql";
import { pipe, subscribe } from "wonka";
import { DeliveryMoved, type DeliveryMovedResult } from "./webhooks.gql";

export type Moved = DeliveryMovedResult["webhookDeliveryUpdated"];

// Whoever listens shares the subscription of others to the same destination, and hears of its connections, too.
const connected = new Set<() => void>();
const pause = 500; // ms

/**
 * Hears that deliveries to destinations have moved on, or that they may have, as the connection was away; at most twice a second. What
 * the cache has of a delivery that moved is new by then.
 */
export function useLive(destinationIds: readonly string[], changed: (moved: readonly Moved[]) => void): void {
  const client = useClient();
  const tell = useRef(changed);
  tell.current = changed;
  const key = destinationIds.join();
  useEffect(() => {
    if (key === "") return;
    let moved: Moved[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const later = () => {
      timer ??= setTimeout(() => {
        const since = moved;
        moved = [];
        timer = undefined;
        tell.current(since);
      }, pause);
    };
    const onConnected = () => connected.forEach((hear) => hear());
    connected.add(later);
    const subscriptions = key.split(",").map((destinationId) => pipe(
      client.subscription<DeliveryMovedResult, AnyVariables>(DeliveryMoved.toString(), { destinationId }, { onConnected }),
      subscribe(({ data }) => {
        if (!data) return;
        moved.push(data.webhookDeliveryUpdated);
        later();
      }),
    ));
    return () => {
      clearTimeout(timer);
      connected.delete(later);
      subscriptions.forEach(({ unsubscribe }) => unsubscribe());
    };
  }, [client, key]);
}
