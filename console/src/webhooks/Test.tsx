import { Anchor, Button, Group, NativeSelect, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useAsk, useChange } from "../graph/hooks";
import { useText } from "../text";
import { Failed } from "../ui/Failed";
import { Problem } from "../ui/Problem";
import { useSubmit } from "../ui/useSubmit";
import { useBase } from "./base";
import { DeliveryState } from "./State";
import { kindOf } from "./failure";
import { useLive } from "./useLive";
import { Catalog, Delivery, SendTest } from "./webhooks.gql";

/** Sends the example of an event, and shows what becomes of it as it happens. */
export function Test({ destination: { id, events } }: { destination: { id: string; events: string[] | null } }) {
  const { text } = useText();
  const { data } = useAsk(Catalog, { extended: false });
  const types = data?.webhookCatalog.events.map(({ type }) => type) ?? [];
  const [chosen, setChosen] = useState<string>();
  const type = chosen ?? types.find((one) => events?.includes(one)) ?? types[0] ?? "";
  const test = useChange(SendTest);
  const [sent, setSent] = useState<string>();
  const submit = useSubmit(async () => {
    const { testWebhookDestination } = await test({ input: { id, type } });
    setSent(String(testWebhookDestination!.delivery.databaseId));
  });
  return (
    <form onSubmit={submit.onSubmit}>
      <Stack gap="xs">
        <Text size="sm" c="dimmed">{text.webhooks.testHint}</Text>
        <Group gap="xs" align="end">
          <NativeSelect label={text.webhooks.type} data={types} value={type} onChange={(event) => setChosen(event.currentTarget.value)} />
          <Button type="submit" loading={submit.busy} disabled={type === ""}>{text.webhooks.testButton}</Button>
        </Group>
        <Problem error={submit.error} />
        <div role="status">{sent && <Outcome key={sent} id={sent} destinationId={id} />}</div>
      </Stack>
    </form>
  );
}

/** What has become of a delivery by now. */
function Outcome({ id, destinationId }: { id: string; destinationId: string }) {
  const { text, format } = useText();
  const base = useBase();
  const { data, error, again } = useAsk(Delivery, { id });
  useLive([destinationId], again);
  const delivery = data?.webhookDelivery;
  if (!delivery) return <Problem error={error} again={again} />;
  const last = delivery.attemptLog.at(-1);
  return (
    <Stack gap={4}>
      <Group gap="xs">
        <DeliveryState status={delivery.status} />
        {last && <Text size="sm">{text.webhooks.answered(last.httpStatus, format.number(Math.round(last.durationMs)))}</Text>}
        <Anchor component={Link} to={`${base}/deliveries/${delivery.databaseId}`} size="sm">{text.webhooks.showDelivery}</Anchor>
      </Group>
      {delivery.error && <Text size="sm"><Failed kind={kindOf(delivery)} said={delivery.error} /></Text>}
    </Stack>
  );
}
