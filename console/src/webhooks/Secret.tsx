import { Alert, Button, Code, Group, Stack, Text } from "@mantine/core";
import { IconKey } from "@tabler/icons-react";
import { useText } from "../text";
import { CopyText } from "../ui/CopyText";

/** A signing secret, which is shown this once. */
export function Secret({ secret, done }: { secret: string; done: () => void }) {
  const { text } = useText();
  return (
    <Stack>
      <Alert icon={<IconKey aria-hidden />} title={text.webhooks.secret} role="status">
        <Stack gap="xs">
          <Text size="sm">{text.webhooks.secretOnce}</Text>
          <Code block style={{ overflowWrap: "anywhere", whiteSpace: "pre-wrap" }}>{secret}</Code>
          <Group><CopyText value={secret} /></Group>
        </Stack>
      </Alert>
      <Group><Button onClick={done}>{text.webhooks.secretKept}</Button></Group>
    </Stack>
  );
}
