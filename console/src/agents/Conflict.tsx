import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { useText } from "../text";
import { Diff } from "./Diff";
import type { Draft } from "./useDraft";

/** Says that somebody else has changed the draft meanwhile, shows how the two differ, and lets one choose. */
export function Conflict({ draft }: { draft: Draft }) {
  const { text } = useText();
  return (
    <Alert color="yellow" role="alert" title={text.agents.conflict}>
      <Stack gap="xs">
        <Text size="sm">{text.agents.conflictHint}</Text>
        <Diff label={text.agents.conflictDiff} before={draft.theirs!} after={draft.source} />
        <Group gap="xs">
          <Button size="xs" variant="default" onClick={draft.keepMine}>{text.agents.keepMine}</Button>
          <Button size="xs" variant="default" onClick={draft.reset}>{text.agents.takeTheirs}</Button>
        </Group>
      </Stack>
    </Alert>
  );
}
