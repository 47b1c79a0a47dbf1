/** The run that an event tells of, by its body; undefined where it tells of none, or the body is not shown. */
export function runOf(payload: string): string | undefined {
  try {
    const { data } = JSON.parse(payload) as { data?: { jobKey?: unknown } };
    return typeof data?.jobKey === "string" ? data.jobKey : undefined;
  } catch {
    return undefined;
  }
}
