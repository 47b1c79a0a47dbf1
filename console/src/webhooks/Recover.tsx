import { Alert, Button, Stack, Text, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useChange } from "../graph/hooks";
import { useText } from "../text";
import { Foot } from "../ui/Foot";
import { Problem } from "../ui/Problem";
import { SidePanel } from "../ui/SidePanel";
import { local } from "../ui/since";
import { useSubmit } from "../ui/useSubmit";
import { useDestination } from "./useDestination";
import { Recover as Ask } from "./webhooks.gql";

/** Sends all that did not get through since a moment once more. */
export function Recover() {
  const { text, format } = useText();
  const { id, to } = useDestination();
  const navigate = useNavigate();
  const recover = useChange(Ask);
  const [since, setSince] = useState(() => local(new Date(Date.now() - 24 * 3_600_000)));
  const [count, setCount] = useState<number>();
  const close = () => navigate(to);
  const submit = useSubmit(async () => {
    setCount(undefined);
    const { recoverWebhookDeliveries } = await recover({ input: { id, since: new Date(since).toISOString() } });
    setCount(recoverWebhookDeliveries!.count);
  });
  return (
    <SidePanel title={text.webhooks.recover} close={close}>
      <form onSubmit={submit.onSubmit}>
        <Stack>
          <Text size="sm" c="dimmed">{text.webhooks.recoverHint}</Text>
          <Problem error={submit.rest("since")} />
          <TextInput
            type="datetime-local" label={text.webhooks.recoverSince} required withAsterisk={false} error={submit.fault("since")} max={local(new Date())}
            value={since} onChange={(event) => setSince(event.currentTarget.value)}
          />
          {count !== undefined && <Alert role="status">{count === 0 ? text.webhooks.recoveredNone : text.webhooks.recovered(format.number(count))}</Alert>}
          <Foot>
            <Button type="submit" loading={submit.busy} disabled={since === ""}>{text.webhooks.recoverButton}</Button>
            <Button variant="default" onClick={close}>{count === undefined ? text.ui.cancel : text.ui.close}</Button>
          </Foot>
        </Stack>
      </form>
    </SidePanel>
  );
}
