import { session } from "./session";

function send<T>(path: string, body: object, repeat: "always" | "refused", read: (response: Response) => Promise<T>): Promise<T> {
  return session.http.send(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), repeat, read });
}

/** Posts to a path that is for everybody. */
export function post(path: string, body: object): Promise<void> {
  return send(path, body, "refused", async () => undefined);
}

/** Asks a path that is for everybody, and changes nothing. */
export function ask<T>(path: string, body: object): Promise<T> {
  return send(path, body, "always", (response) => response.json() as Promise<T>);
}
