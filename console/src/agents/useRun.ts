import type { CanopyError } from "canopy-client";
import { useEffect } from "react";
import { type AnyVariables, useClient } from "urql";
import { pipe, subscribe } from "wonka";
import { useAsk } from "../graph/hooks";
import { Run as Ask, RunMoved, type RunResult } from "./agents.gql";

export type WholeRun = NonNullable<RunResult["run"]>;

/** A run, as it moves on. */
export function useRun(jobKey: string): { run: WholeRun | undefined; asked: boolean; error: CanopyError | undefined; again: () => void } {
  const client = useClient();
  const { data, error, again } = useAsk(Ask, { jobKey });
  const running = data?.run?.status === "running";
  useEffect(() => {
    if (!running) return;
    // What it says goes into the cache, from which the run above is shown.
    return pipe(client.subscription<unknown, AnyVariables>(RunMoved.toString(), { jobKey }), subscribe(() => undefined)).unsubscribe;
  }, [client, jobKey, running]);
  return { run: data?.run ?? undefined, asked: data !== undefined, error: error?.code === "NOT_FOUND" ? undefined : error, again };
}
