// The token that the portal was opened with. It is kept nowhere but here: who loads the page again needs another one.
let token: string | undefined;
const listeners = new Set<() => void>();

/** Takes the token from an address's fragment; gives whether there was one. */
export function takeToken(fragment: string): boolean {
  const given = new URLSearchParams(fragment).get("token");
  if (!given) return false;
  token = given;
  listeners.forEach((tell) => tell());
  return true;
}

export function currentToken(): string | undefined {
  return token;
}

export function watchToken(tell: () => void): () => void {
  listeners.add(tell);
  return () => listeners.delete(tell);
}
