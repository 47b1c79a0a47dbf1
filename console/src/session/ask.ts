import { session } from "./session";

/** Posts to a path that is for everybody. */
export function post(path: string, body: object): Promise<void> {
  return session.http.send(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    repeat: "refused",
    read: async () => undefined,
  });
}
