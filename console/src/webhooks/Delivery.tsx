import { Alert, Anchor, Button, Group, SegmentedControl, Skeleton, Stack, Text, Title } from "@mantine/core";
import { IconRefresh } from "@tabler/icons-react";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { useAsk, useChange } from "../graph/hooks";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { CopyText } from "../ui/CopyText";
import { Facts } from "../ui/Facts";
import { Failed } from "../ui/Failed";
import { Problem } from "../ui/Problem";
import { SidePanel } from "../ui/SidePanel";
import { useNotices } from "../ui/useNotices";
import { When } from "../ui/When";
import { useBase } from "./base";
import { headersOf } from "./headers";
import { OwnMachine } from "./OwnMachine";
import { runOf } from "./payload";
import { DeliveryState } from "./State";
import { kindOf } from "./failure";
import { useLive } from "./useLive";
import { Delivery as Ask, type DeliveryResult, Resend } from "./webhooks.gql";

type Whole = NonNullable<DeliveryResult["webhookDelivery"]>;

/** One delivery: what was sent, each attempt, and what was answered. */
export function Delivery() {
  const { text } = useText();
  const base = useBase();
  const { deliveryId } = useParams({ strict: false });
  const navigate = useNavigate();
  const { data, error, again } = useAsk(Ask, { id: deliveryId! });
  const delivery = data?.webhookDelivery;
  useLive(delivery ? [String(delivery.destinationId)] : [], again);
  return (
    <SidePanel key={deliveryId} title={delivery?.type ?? text.webhooks.delivery} close={() => navigate({ to: `${base}/deliveries`, search: true })}>
      <Stack>
        <Problem error={error} again={again} />
        {delivery ? <Shown delivery={delivery} /> : !error && (data ? <Text c="dimmed">{text.webhooks.deliveryGone}</Text> : <Skeleton height={300} />)}
      </Stack>
    </SidePanel>
  );
}

function Shown({ delivery }: { delivery: Whole }) {
  const { text } = useText();
  const me = useMe();
  const base = useBase();
  const { destination } = delivery;
  // The portal has no runs, and the example of a test has none, either.
  const run = base === "/webhooks" && me.can("agent.read") && !delivery.test ? runOf(delivery.payload) : undefined;
  return (
    <>
      <Group justify="space-between">
        <div role="status"><DeliveryState status={delivery.status} /></div>
        <Again delivery={delivery} />
      </Group>
      {delivery.error && <Alert color={delivery.status === "pending" ? "yellow" : "red"}><Failed kind={kindOf(delivery)} said={delivery.error} /></Alert>}
      {delivery.status !== "delivered" && <OwnMachine why={delivery.error} />}
      <Facts of={[
        [text.webhooks.one, destination ? <Anchor key="to" component={Link} to={`${base}/destinations/${destination.databaseId}`} size="sm">{destination.name || destination.url}</Anchor> : text.webhooks.destinationGone],
        [text.webhooks.event, delivery.eventId],
        ...(run ? [[text.agents.run, <Anchor key="run" component={Link} to={`/agents/runs/${run}`} size="sm">{run}</Anchor>] as const] : []),
        ...(delivery.test ? [[text.webhooks.sentAsTest, text.ui.yes] as const] : []),
        [text.webhooks.written, <When key="written" at={delivery.createdAt} />],
        [text.webhooks.completed, <When key="completed" at={delivery.completedAt} never={text.webhooks.notYet} />],
        [text.webhooks.id, delivery.databaseId],
      ]} />
      <Attempts delivery={delivery} />
      <Payload payload={delivery.payload} />
      <Headers delivery={delivery} />
    </>
  );
}

/** Sends the same bytes once more, as a delivery of its own. */
function Again({ delivery: { id, destination, status } }: { delivery: Whole }) {
  const { text } = useText();
  const me = useMe();
  const base = useBase();
  const navigate = useNavigate();
  const resend = useChange(Resend);
  const { attempt, say } = useNotices();
  const [busy, setBusy] = useState(false);
  if (!me.can("webhook.write") || !destination) return null;
  const send = async () => {
    setBusy(true);
    await attempt(async () => {
      const { resendWebhookDelivery } = await resend({ input: { id } });
      say(text.webhooks.resent);
      await navigate({ to: `${base}/deliveries/$deliveryId`, params: { deliveryId: String(resendWebhookDelivery!.delivery.databaseId) }, search: true });
    });
    setBusy(false);
  };
  return (
    <Button size="xs" variant={status === "delivered" ? "default" : "filled"} leftSection={<IconRefresh size={14} aria-hidden />} loading={busy} onClick={() => void send()}>
      {text.webhooks.resend}
    </Button>
  );
}

function Attempts({ delivery: { attemptLog, status } }: { delivery: Whole }) {
  const { text, format } = useText();
  return (
    <Stack gap="xs" component="section" aria-label={text.webhooks.attempts}>
      <Title order={3} size="h5">{text.webhooks.attempts}</Title>
      {attemptLog.length === 0 && <Text size="sm" c="dimmed">{status === "blocked" ? text.webhooks.noAttempt : text.webhooks.noAttemptYet}</Text>}
      <ol className="attempts">
        {attemptLog.map(({ at, durationMs, httpStatus, error, errorKind, response }, index) => (
          <li key={at}>
            <Text size="sm"><strong>{index + 1}.</strong> {text.webhooks.answered(httpStatus, format.number(Math.round(durationMs)))} · <When at={at} /></Text>
            {error && <Text size="sm"><Failed kind={errorKind} said={error} /></Text>}
            {response && <pre className="wire wrap" tabIndex={0} aria-label={text.webhooks.answer}>{response}</pre>}
          </li>
        ))}
      </ol>
    </Stack>
  );
}

/** The bytes of the body, as they are sent or laid out to be read. */
function Payload({ payload }: { payload: string }) {
  const { text, format } = useText();
  const [how, setHow] = useState<"pretty" | "raw">("pretty");
  return (
    <Stack gap="xs" component="section" aria-label={text.webhooks.body}>
      <Group justify="space-between">
        <Title order={3} size="h5">{text.webhooks.body}</Title>
        {payload !== "" && (
          <Group gap="xs">
            <SegmentedControl
              transitionDuration={0} aria-label={text.webhooks.body} size="xs" value={how} data={[{ value: "pretty", label: text.webhooks.pretty }, { value: "raw", label: text.webhooks.raw }]}
              onChange={(value) => setHow(value === "raw" ? "raw" : "pretty")}
            />
            <CopyText value={payload} />
          </Group>
        )}
      </Group>
      {payload === "" ? <Text size="sm" c="dimmed">{text.webhooks.bodyHidden}</Text> : (
        <>
          <pre className={how === "raw" ? "wire wrap" : "wire"} tabIndex={0} aria-label={text.webhooks.body}>{how === "raw" ? payload : laidOut(payload)}</pre>
          <Text size="xs" c="dimmed">{text.webhooks.bodyBytes(format.number(new TextEncoder().encode(payload).length))}</Text>
        </>
      )}
    </Stack>
  );
}

function laidOut(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}

/** The headers of the last attempt. What is signed with the secret is described, as the secret is shown to nobody. */
function Headers({ delivery }: { delivery: Whole }) {
  const { text } = useText();
  const lines = headersOf(delivery, text.webhooks.headerWords);
  return (
    <Stack gap="xs" component="section" aria-label={text.webhooks.headers}>
      <Group justify="space-between"><Title order={3} size="h5">{text.webhooks.headers}</Title></Group>
      <pre className="wire" tabIndex={0} aria-label={text.webhooks.headers}>{lines.map(([name, value]) => (value === "" ? name : `${name}: ${value}`)).join("\n")}</pre>
      <Text size="xs" c="dimmed">{text.webhooks.headersHint}</Text>
    </Stack>
  );
}
