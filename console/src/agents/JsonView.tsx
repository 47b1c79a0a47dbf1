import { Textarea } from "@mantine/core";
import { useText } from "../text";
import type { Draft } from "./useDraft";

/** The diagram as JSON. */
export function JsonView({ draft, can }: { draft: Draft; can: boolean }) {
  const { text } = useText();
  return (
    <Textarea
      className="json" aria-label={text.agents.json} spellCheck={false} rows={24} readOnly={!can} error={draft.value === undefined && text.agents.noJsonHint}
      styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)", fontSize: "var(--mantine-font-size-xs)" } }}
      value={draft.source} onChange={({ currentTarget: { value } }) => draft.write(value)}
    />
  );
}
