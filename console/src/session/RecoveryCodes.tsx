import { Button, Code, Group, Stack, Text } from "@mantine/core";
import { useEffect, useRef } from "react";
import { useText } from "../text";
import { CopyText } from "../ui/CopyText";
import { useShownOnce } from "../ui/useShownOnce";

/** Recovery codes, which are shown this once. */
export function RecoveryCodes({ of, done }: { of: readonly string[]; done: () => void }) {
  const { text } = useText();
  const keep = useShownOnce(done);
  // What had the focus is gone, and they are to be kept before anything else is pressed.
  const codes = useRef<HTMLPreElement>(null);
  useEffect(() => codes.current?.focus(), []);
  return (
    <Stack>
      <Text fw={600}>{text.session.recovery}</Text>
      <Text size="sm">{text.session.recoveryHint}</Text>
      <Code block ref={codes} tabIndex={0} role="group" aria-label={text.session.recovery}>{of.join("\n")}</Code>
      <Group justify="space-between">
        <CopyText value={of.join("\n")} />
        <Button onClick={keep}>{text.session.recoveryKept}</Button>
      </Group>
    </Stack>
  );
}
