interface Sent {
  eventId: string;
  type: string;
  test: boolean;
  payload: string;
  destination: { url: string; signing: "SPEC" | "STANDARD" } | null;
  attemptLog: readonly { at: string }[];
}

/** What stands for signatures, which only who has the secret can make. */
export interface HeaderWords {
  spec: string;
  standard: string;
  attempt: string;
}

/** The lines and headers of a delivery's last attempt, as docs/webhooks.md has them: a name with its value, or a line that is no header. */
export function headersOf({ eventId, type, test, payload, destination, attemptLog }: Sent, words: HeaderWords): [name: string, value: string][] {
  const url = destination && new URL(destination.url);
  const last = attemptLog.at(-1);
  return [
    ...(url ? [[`POST ${url.pathname}${url.search} HTTP/1.1`, ""], ["host", url.host]] satisfies [string, string][] : []),
    ["content-type", "application/json"],
    ...(payload === "" ? [] : [["content-length", String(new TextEncoder().encode(payload).length)]] satisfies [string, string][]),
    ["x-service-event", type],
    ["x-service-signature", `sha256=${words.spec}`],
    ...(destination?.signing === "STANDARD" ? [
      ["webhook-id", eventId],
      ["webhook-timestamp", last ? String(Math.floor(Date.parse(last.at) / 1000)) : words.attempt],
      ["webhook-signature", `v1,${words.standard}`],
    ] satisfies [string, string][] : []),
    ...(test ? [["x-canopy-test", "true"]] satisfies [string, string][] : []),
  ];
}
