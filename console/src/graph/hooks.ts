import { CombinedError } from "@urql/core";
import { CanopyError, type TypedDocument } from "canopy-client";
import { useCallback } from "react";
import { type AnyVariables, useClient, useQuery } from "urql";

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

/** Asks a query: shows what the cache has, and then what the platform says. */
export function useAsk<R, V>(document: TypedDocument<R, V>, variables: V, { pause = false }: AskOptions = {}): Asked<R> {
  const [{ data, error, fetching }, ask] = useQuery<R, AnyVariables>({
    query: document.toString(), variables: variables as AnyVariables, requestPolicy: "cache-and-network", pause,
  });
  const again = useCallback(() => ask({ requestPolicy: "network-only" }), [ask]);
  return { data, error: errorOf(error), waiting: fetching && data === undefined, again };
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
    if (error) throw errorOf(error);
    return data!;
  }, [client, document]);
}

/** The platform's own error, which knows more than the library's that wraps it. */
export function errorOf(error: CombinedError | undefined): CanopyError | undefined {
  if (!error) return undefined;
  const why = error.networkError ?? error.graphQLErrors[0]?.extensions.canopy;
  return why instanceof CanopyError ? why : new CanopyError("INTERNAL", error.message, { cause: why });
}
