import type { Text } from "../text";

/** The kinds of actors that there are. */
export const actorKinds = ["USER", "API_KEY", "DIRECTORY", "UNKNOWN", "PLATFORM"] as const;

export type ActorKind = (typeof actorKinds)[number];

/** Who did something: a person by the address, and otherwise what kind of actor it was. */
export function whoOf({ actor, actorKind }: { actor: { email: string } | null; actorKind: ActorKind }, { operations }: Text): string {
  return actor?.email ?? operations.unnamed[actorKind];
}
