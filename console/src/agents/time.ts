import type { Format } from "../text/format";

/** How long something has taken, in words. */
export function duration(ms: number, format: Format): string {
  return ms < 1000 ? `${format.number(Math.round(ms))} ms` : `${format.number(Math.round(ms / 100) / 10)} s`;
}

/** The time between two moments, in words. */
export function took(from: string, to: string, format: Format): string {
  return duration(new Date(to).getTime() - new Date(from).getTime(), format);
}
