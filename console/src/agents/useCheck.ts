import { useNetwork } from "@mantine/hooks";
import { CanopyError } from "canopy-client";
import { useEffect, useState } from "react";
import { canopy } from "../session/session";
import { CheckDiagram, type CheckDiagramResult } from "./agents.gql";
import type { Json } from "./value";

export type Check = CheckDiagramResult["diagramCheck"];

const pause = 350; // ms without a key

/** What the platform says of a diagram, a moment after it has changed last, and once more when the connection is back. Until it has spoken again, what it said before is kept. */
export function useCheck(diagram: Json | undefined): { check: Check | undefined; error: CanopyError | undefined } {
  const [said, setSaid] = useState<{ check: Check | undefined; error: CanopyError | undefined }>({ check: undefined, error: undefined });
  const { online } = useNetwork();
  useEffect(() => {
    if (diagram === undefined) return;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      canopy.request(CheckDiagram, { diagram }, { signal: stop.signal }).then(
        ({ diagramCheck }) => setSaid({ check: diagramCheck, error: undefined }),
        (why: unknown) => void (why instanceof CanopyError && setSaid((before) => ({ ...before, error: why }))),
      );
    }, pause);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [diagram, online]);
  return said;
}

/** What is wrong at a place of a diagram or below it: the place within, and the reason. */
export function faultsAt(check: Check | undefined, place: string): { within: string; message: string }[] {
  return (check?.faults ?? [])
    .filter(({ location }) => location === place || location.startsWith(`${place}.`) || location.startsWith(`${place}[`))
    .map(({ location, message }) => ({ within: location.slice(place.length).replace(/^\./, ""), message }));
}
