import { Alert, Code, Group, Stack, Text } from "@mantine/core";
import { useText } from "../text";
import { CopyText } from "../ui/CopyText";
import { useBase } from "./base";

const listen = "bin/canopy webhook listen -ca .data/listener.pem -pretty";
const start = "CANOPY_WEBHOOK_ALLOW=127.0.0.0/8 CANOPY_WEBHOOK_CA=.data/listener.pem make run";

/** Says how to receive on one's own machine, where the platform does not send there: why is what it has said. */
export function OwnMachine({ why }: { why: string | null | undefined }) {
  const { text } = useText();
  const base = useBase();
  // Who looks by the portal does not run the platform.
  if (!why || !/not public|certificate/i.test(why) || base === "/portal") return null;
  return (
    <Alert color="blue" role="note" title={text.webhooks.ownMachine}>
      <Stack gap="xs">
        <Text size="sm">{/certificate/i.test(why) ? text.webhooks.ownMachineTrust : text.webhooks.ownMachineHint}</Text>
        <Command what={text.webhooks.ownMachineListen} line={listen} />
        <Command what={text.webhooks.ownMachineStart} line={start} />
        <Text size="sm">{text.webhooks.ownMachineThen("https://127.0.0.1:8443/")}</Text>
      </Stack>
    </Alert>
  );
}

function Command({ what, line }: { what: string; line: string }) {
  return (
    <>
      <Text size="sm">{what}</Text>
      <Code block style={{ overflowWrap: "anywhere", whiteSpace: "pre-wrap" }}>{line}</Code>
      <Group><CopyText value={line} /></Group>
    </>
  );
}
