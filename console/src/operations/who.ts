import type { Text } from "../text";

/** Who did something, where nobody is named: whoever fails to sign in, or asks for a new password, has not shown who they are. */
export function unnamed(action: string, { operations }: Text): string {
  return /Failed$|\.resetRequested$/.test(action) ? operations.unknown : operations.platform;
}
