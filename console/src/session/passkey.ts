import { CanopyError } from "canopy-client";
import type { Text } from "../text";

/** Has the browser ask for a passkey, and tells in words why nothing has come of it: the person has given up, the device has one already, or the page's address is not the one that passkeys are for. */
export async function byBrowser<T>(work: () => Promise<T>, { session }: Text): Promise<T> {
  try {
    return await work();
  } catch (why) {
    if (!(why instanceof DOMException)) throw why;
    const reasons: Record<string, string> = { InvalidStateError: session.passkeyHere, SecurityError: session.passkeyElsewhere };
    throw new CanopyError("BAD_REQUEST", reasons[why.name] ?? session.passkeyGivenUp, { cause: why });
  }
}
