import { createContext, useContext, useEffect, useRef, useState } from "react";
import { type AnyVariables, useClient } from "urql";
import { pipe, subscribe } from "wonka";
import { DocumentChanges, type DocumentChangesResult } from "./contexts.gql";

// Lists are asked for again at most this often, in ms, however many documents change.
const pause = 800;

/**
 * Listens to a context's documents. How far each is comes to the screen by itself; the number that it gives grows where lists and
 * their numbers have changed, too: when a document came, or came to another state.
 */
export function useChanges(contextId: string): number {
  const client = useClient();
  const [changes, setChanges] = useState(0);
  useEffect(() => {
    const statuses = new Map<string, string>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let told = -pause;
    // The first change is told at once, or a list would be empty for a moment beside files that are sent.
    const changed = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        told = performance.now();
        setChanges((number) => number + 1);
      }, Math.max(0, told + pause - performance.now()));
    };
    // What happened before a connection is not told.
    const events = client.subscription<DocumentChangesResult, AnyVariables>(DocumentChanges.toString(), { id: contextId }, { onConnected: changed });
    const { unsubscribe } = pipe(events, subscribe(({ data }) => {
      if (!data) return;
      const { id, status } = data.documentUpdated;
      if (statuses.get(id) === status) return;
      statuses.set(id, status);
      changed();
    }));
    return () => {
      clearTimeout(timer);
      unsubscribe();
    };
  }, [client, contextId]);
  return changes;
}

export const ChangesContext = createContext(0);

/** Does something each time documents of the context that is open came, or came to another state. */
export function useOnChanges(work: () => void): void {
  const changes = useContext(ChangesContext);
  const last = useRef(work);
  last.current = work;
  useEffect(() => {
    if (changes > 0) last.current();
  }, [changes]);
}
