import { useText } from "../text";
import { sentence } from "./Problem";

/** A failure of a delivery or a step: what kind it is, where that has words in the person's language, and what the platform says of it. */
export function Failed({ kind, said }: { kind: string | null | undefined; said: string }) {
  const { text } = useText();
  const known = text.failures[kind ?? ""];
  return known === undefined ? sentence(said) : <>{known} <span className="quiet" lang="en">{sentence(said)}</span></>;
}
