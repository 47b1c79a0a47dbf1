import { createContext, useContext, useMemo } from "react";

/** How far back a list goes, in hours. */
export const times = { hour: 1, day: 24, week: 168 } as const;
export type Time = keyof typeof times;

/** What an address says of it, where it makes sense. */
export function timeOf(value: unknown): Time | undefined {
  return (Object.keys(times) as Time[]).find((one) => one === value);
}

const minute = 60_000;

/** The moment some hours ago, to the minute, so that what is asked twice in a minute is asked for once. */
function hoursAgo(hours: number): string {
  return new Date(Math.floor(Date.now() / minute) * minute - hours * 60 * minute).toISOString();
}

/** The moment from which on a list is asked for; null without one. */
export function useSince(time: Time | undefined): string | null {
  return useMemo(() => (time ? hoursAgo(times[time]) : null), [time]);
}

/** The moment of `useDayAgo` for screens beside each other: what one of them hears then stands in the other as well. */
export const DayAgo = createContext<string | undefined>(undefined);

/** The moment a day before the component came, or the screen that it is on. */
export function useDayAgo(): string {
  const shared = useContext(DayAgo);
  const own = useMemo(() => hoursAgo(24), []);
  return shared ?? own;
}

/** A moment as a field for times has it: of this place's clock, to the minute. */
export function local(at: Date): string {
  return new Date(at.getTime() - at.getTimezoneOffset() * minute).toISOString().slice(0, 16);
}
