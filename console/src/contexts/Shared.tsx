import { Badge } from "@mantine/core";
import { useText } from "../text";

/** Who sees a context, in a word. */
export function Shared({ state }: { state: number }) {
  const { text } = useText();
  return <Badge variant="light" flex="none" color={state === 1 ? "canopy" : "gray"}>{state === 1 ? text.contexts.shared : text.contexts.private}</Badge>;
}
