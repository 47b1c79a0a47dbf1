import type { Text } from "../text";

/** What a key signs in with, as it is shown once. */
export interface Credentials {
  clientId: string;
  clientSecret: string;
}

/** The same, in words. */
export function shownOf({ clientId, clientSecret }: Credentials, { keys }: Text): [name: string, value: string, copy: string][] {
  return [[keys.clientId, clientId, keys.copyId], [keys.secret, clientSecret, keys.copySecret]];
}
