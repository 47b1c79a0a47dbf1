/** What kind of failure a delivery tells of: that of its last attempt, where it is that; undefined for what is no attempt's, as a limit that it waits for. */
export function kindOf({ error, attemptLog }: { error: string | null; attemptLog: readonly { error: string | null; errorKind: string | null }[] }): string | undefined {
  const last = attemptLog.at(-1);
  return (last?.error === error && last?.errorKind) || undefined;
}
