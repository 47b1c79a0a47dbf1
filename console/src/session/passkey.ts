import { CanopyError } from "canopy-client";
import type { Text } from "../text";

/** Has the browser ask for a passkey, and tells in words why nothing has come of it: the person has given up, or the device has one already. */
export async function byBrowser<T>(work: () => Promise<T>, { session }: Text): Promise<T> {
  try {
    return await work();
  } catch (why) {
    if (!(why instanceof DOMException)) throw why;
    throw new CanopyError("BAD_REQUEST", why.name === "InvalidStateError" ? session.passkeyHere : session.passkeyGivenUp, { cause: why });
  }
}
