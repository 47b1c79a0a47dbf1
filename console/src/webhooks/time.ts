import { useMemo } from "react";

const minute = 60_000;

/** The moment some hours ago, to the minute, so that what is asked twice in a minute is asked for once. */
export function hoursAgo(hours: number): string {
  return new Date(Math.floor(Date.now() / minute) * minute - hours * 60 * minute).toISOString();
}

/** The moment a day before the component came. */
export function useDayAgo(): string {
  return useMemo(() => hoursAgo(24), []);
}
