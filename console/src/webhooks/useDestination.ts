import { useParams } from "@tanstack/react-router";
import { type Base, useBase } from "./base";

/** The destination in the address, and the way to its panel. */
export function useDestination(): { id: string; base: Base; to: { to: `${Base}/destinations/$destinationId`; params: { destinationId: string }; search: true } } {
  const { destinationId } = useParams({ strict: false });
  const base = useBase();
  const id = destinationId!;
  return { id, base, to: { to: `${base}/destinations/$destinationId`, params: { destinationId: id }, search: true } };
}
