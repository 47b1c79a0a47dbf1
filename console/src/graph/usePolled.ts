import { useDocumentVisibility } from "@mantine/hooks";
import type { TypedDocument } from "canopy-client";
import { useEffect } from "react";
import { type Asked, useAsk } from "./hooks";

const every = 10_000; // ms

/** Asks a query, and asks again every so often, for as long as somebody looks. */
export function usePolled<R, V>(document: TypedDocument<R, V>, variables: V): Asked<R> {
  const asked = useAsk(document, variables);
  const { again } = asked;
  const seen = useDocumentVisibility() === "visible";
  useEffect(() => {
    if (!seen) return;
    const timer = setInterval(again, every);
    return () => clearInterval(timer);
  }, [seen, again]);
  return asked;
}
