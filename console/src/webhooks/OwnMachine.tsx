import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { useText } from "../text";
import { useBase } from "./base";
import { Command } from "./Command";
import { receivingFrom } from "./ownMachine";

/** Says how to receive on one's own machine, where that is asked, or the platform does not send there: why is what it has said. Take fills its address in. */
export function OwnMachine({ why, asked = false, take }: { why?: string | null | undefined; asked?: boolean; take?: (address: string) => void }) {
  const { text } = useText();
  const base = useBase();
  // Who looks by the portal does not run the platform.
  if (base === "/portal" || !(asked || /not public|certificate/i.test(why ?? ""))) return null;
  const { local, ready, listen, address, ...anew } = receivingFrom(location, text.webhooks.ownMachineName);
  const start = ready && !why ? undefined : anew.start;
  const { ownMachineReady, ownMachineTrust, ownMachineHint } = text.webhooks;
  const hint = !start ? ownMachineReady : /certificate/i.test(why ?? "") ? ownMachineTrust : ownMachineHint;
  return (
    <Alert color="blue" role="note" title={text.webhooks.ownMachine}>
      <Stack gap="xs">
        <Text size="sm">{hint}</Text>
        <Command what={text.webhooks.ownMachineListen} line={listen} />
        {start && <Command what={local ? text.webhooks.ownMachineStart : text.webhooks.ownMachineAsk(location.host)} line={start} />}
        <Text size="sm">{text.webhooks.ownMachineThen(address)}</Text>
        {local && take && <Group><Button size="xs" variant="default" onClick={() => take(address)}>{text.webhooks.ownMachineTake}</Button></Group>}
      </Stack>
    </Alert>
  );
}
