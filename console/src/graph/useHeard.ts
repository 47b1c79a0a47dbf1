import type { TypedDocument } from "canopy-client";
import { useEffect, useRef, useSyncExternalStore } from "react";
import { type AnyVariables, useClient } from "urql";
import { pipe, subscribe } from "wonka";
import { currentSigned, watchSigned } from "../session/session";

// Whoever listens shares the subscription of others to the same, and hears of its connections, too.
const connected = new Set<() => void>();
const pause = 500; // ms

/**
 * Hears what a subscription tells, with each of some variables, and that it may have missed something, as the connection was away; at most
 * twice a second. What the cache has of what was heard is new by then.
 */
export function useHeard<R, V>(document: TypedDocument<R, V>, each: readonly V[], changed: (heard: readonly R[]) => void): void {
  const client = useClient();
  const tell = useRef(changed);
  tell.current = changed;
  const signed = useSyncExternalStore(watchSigned, currentSigned); // a subscription ends with its session
  const key = JSON.stringify(each);
  useEffect(() => {
    let heard: R[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const later = () => {
      timer ??= setTimeout(() => {
        const since = heard;
        heard = [];
        timer = undefined;
        tell.current(since);
      }, pause);
    };
    const onConnected = () => connected.forEach((hear) => hear());
    connected.add(later);
    const subscriptions = (JSON.parse(key) as V[]).map((variables) => pipe(
      client.subscription<R, AnyVariables>(document.toString(), variables as AnyVariables, { onConnected }),
      subscribe(({ data }) => {
        if (!data) return;
        heard.push(data);
        later();
      }),
    ));
    return () => {
      clearTimeout(timer);
      connected.delete(later);
      subscriptions.forEach(({ unsubscribe }) => unsubscribe());
    };
  }, [client, document, key, signed]);
}
