import { CombinedError } from "@urql/core";
import { CanopyError, type TypedDocument } from "canopy-client";
import { useCallback, useEffect, useRef } from "react";
import { type AnyVariables, useClient, useQuery } from "urql";
import { unsaved } from "../ui/unsaved";

export interface Asked<R> {
  /** What is known by now, from the cache or the platform. */
  data: R | undefined;
  error: CanopyError | undefined;
  /** Nothing is known yet. */
  waiting: boolean;
  /** Asks once more. */
  again: () => void;
}

export interface AskOptions {
  /** Does not ask, as long as it is true. */
  pause?: boolean;
}

// What is shown is asked for again where somebody else has changed what one wanted to change.
const onScreen = new Set<() => void>();

/** Asks a query: shows what the cache has, and then what the platform says. */
export function useAsk<R, V>(document: TypedDocument<R, V>, variables: V, { pause = false }: AskOptions = {}): Asked<R> {
  const [{ data, error, fetching }, ask] = useQuery<R, AnyVariables>({
    query: document.toString(), variables: variables as AnyVariables, requestPolicy: "cache-and-network", pause,
  });
  const again = useCallback(() => ask({ requestPolicy: "network-only" }), [ask]);
  useEffect(() => {
    if (pause) return;
    onScreen.add(again);
    return () => void onScreen.delete(again);
  }, [again, pause]);
  const shown = useKept(data, error !== undefined, JSON.stringify(variables));
  return { data: shown, error: errorOf(error), waiting: fetching && shown === undefined, again };
}

/** What was known before a failure, as long as something on the screen is not saved: it would be taken away with what it belongs to. */
function useKept<R>(data: R | undefined, failed: boolean, of: string): R | undefined {
  const good = useRef<{ data: R | undefined; of: string }>(undefined);
  if (!failed) good.current = { data, of };
  return failed && good.current?.of === of && unsaved() ? good.current.data : data;
}

/** Gives a function that asks the platform a query this once. It throws `CanopyError`. */
export function useLookup<R, V>(document: TypedDocument<R, V>): (variables: V) => Promise<R> {
  const client = useClient();
  return useCallback(async (variables) => {
    const { data, error } = await client.query<R, AnyVariables>(document.toString(), variables as AnyVariables, { requestPolicy: "network-only" }).toPromise();
    if (error) throw errorOf(error);
    return data!;
  }, [client, document]);
}

/** Gives a function that does a mutation. It throws `CanopyError`. */
export function useChange<R, V>(document: TypedDocument<R, V>): (variables: V) => Promise<R> {
  const client = useClient();
  return useCallback(async (variables) => {
    const { data, error } = await client.mutation<R, AnyVariables>(document.toString(), variables as AnyVariables).toPromise();
    if (!error) return data!;
    const why = errorOf(error)!;
    if (why.reason === "changed") onScreen.forEach((again) => again());
    throw why;
  }, [client, document]);
}

/** The platform's own error, which knows more than the library's that wraps it. */
export function errorOf(error: CombinedError | undefined): CanopyError | undefined {
  if (!error) return undefined;
  const why = error.networkError ?? error.graphQLErrors[0]?.extensions.canopy;
  return why instanceof CanopyError ? why : new CanopyError("INTERNAL", error.message, { cause: why });
}
