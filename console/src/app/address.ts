// What an address says, where it says something that makes sense.

export function text(value: unknown): string | undefined {
  // A word that looks like a number is read as one.
  return value === undefined || value === null || value === "" ? undefined : String(value);
}

export function oneOf<T extends string>(of: readonly T[], value: unknown): T | undefined {
  return of.find((one) => one === value);
}

export function within(least: number, most: number, value: unknown): number | undefined {
  return typeof value === "number" && value >= least && value <= most ? value : undefined;
}
