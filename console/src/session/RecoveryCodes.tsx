import { Button, Code, Group, Stack, Text } from "@mantine/core";
import { useText } from "../text";
import { CopyText } from "../ui/CopyText";

/** Recovery codes, which are shown this once. */
export function RecoveryCodes({ of, done }: { of: readonly string[]; done: () => void }) {
  const { text } = useText();
  return (
    <Stack>
      <Text fw={600}>{text.session.recovery}</Text>
      <Text size="sm">{text.session.recoveryHint}</Text>
      <Code block>{of.join("\n")}</Code>
      <Group justify="space-between">
        <CopyText value={of.join("\n")} />
        <Button onClick={done}>{text.session.recoveryKept}</Button>
      </Group>
    </Stack>
  );
}
