import { Alert, Button, Code, Group, Stack, Text } from "@mantine/core";
import { IconKey } from "@tabler/icons-react";
import { useText } from "../text";
import { CopyText } from "../ui/CopyText";
import { Command } from "./Command";
import { verifyingAt } from "./ownMachine";

/** A signing secret, which is shown this once, with how a receiver on one's own machine gets it. */
export function Secret({ secret, url, done }: { secret: string; url: string | undefined; done: () => void }) {
  const { text } = useText();
  const verifying = url && verifyingAt(url, secret);
  return (
    <Stack>
      <Alert icon={<IconKey aria-hidden />} title={text.webhooks.secret} role="status">
        <Stack gap="xs">
          <Text size="sm">{text.webhooks.secretOnce}</Text>
          <Code block style={{ overflowWrap: "anywhere", whiteSpace: "pre-wrap" }}>{secret}</Code>
          <Group><CopyText value={secret} /></Group>
          {verifying && <Command what={text.webhooks.ownMachineVerify} line={verifying} />}
        </Stack>
      </Alert>
      <Group><Button onClick={done}>{text.webhooks.secretKept}</Button></Group>
    </Stack>
  );
}
