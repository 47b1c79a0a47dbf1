import { Alert, Code, Group, Stack, Text } from "@mantine/core";
import { useText } from "../text";
import { CopyText } from "../ui/CopyText";

/** What a key signs in with, as it is shown once. */
export interface ShownOnce {
  clientId: string;
  clientSecret: string;
}

/** Shows a new secret, this once. */
export function Secret({ of: { clientId, clientSecret } }: { of: ShownOnce }) {
  const { text } = useText();
  return (
    <Alert title={text.keys.secretTitle} role="status">
      <Stack gap="xs">
        <Text size="sm">{text.keys.secretHint}</Text>
        <Text size="sm">{text.keys.clientId}</Text>
        <Group gap="xs"><Code style={{ overflowWrap: "anywhere" }}>{clientId}</Code><CopyText value={clientId} label={text.keys.copyId} /></Group>
        <Text size="sm">{text.keys.secret}</Text>
        <Group gap="xs"><Code style={{ overflowWrap: "anywhere" }}>{clientSecret}</Code><CopyText value={clientSecret} label={text.keys.copySecret} /></Group>
      </Stack>
    </Alert>
  );
}
