import { CanopyError } from "canopy-client";

/** Does something, and says in words of its own where it was refused as somebody has to stay a company's owner. */
export async function plainly<T>(work: () => Promise<T>, words: string): Promise<T> {
  try {
    return await work();
  } catch (why) {
    if (!(why instanceof CanopyError) || why.reason !== "last_owner") throw why;
    throw new CanopyError(why.code, words, { cause: why });
  }
}
