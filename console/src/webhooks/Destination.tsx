import { Alert, Button, Group, List, Skeleton, Stack, Switch, Text, Title } from "@mantine/core";
import { IconCode, IconKey, IconPencil, IconRotate, IconSend, IconTrash } from "@tabler/icons-react";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useAsk, useChange } from "../graph/hooks";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { Facts } from "../ui/Facts";
import { Problem } from "../ui/Problem";
import { SidePanel } from "../ui/SidePanel";
import { useNotices } from "../ui/useNotices";
import { When } from "../ui/When";
import { DeleteDestination } from "./Delete";
import { Health } from "./Health";
import { Test } from "./Test";
import { useDestination } from "./useDestination";
import { Destination as Ask, type DestinationResult, UpdateDestination } from "./webhooks.gql";

type Whole = NonNullable<DestinationResult["webhookDestination"]>;

/** One destination: how it is, and what can be done with it. */
export function Destination() {
  const { text } = useText();
  const { id, base } = useDestination();
  const navigate = useNavigate();
  const { data, error, again } = useAsk(Ask, { id });
  const destination = data?.webhookDestination;
  return (
    <SidePanel key={id} title={destination ? destination.name || text.webhooks.one : text.webhooks.one} close={() => navigate({ to: `${base}/destinations`, search: true })}>
      <Stack>
        <Problem error={error} again={again} />
        {destination ? <Shown destination={destination} /> : !error && (data ? <Text c="dimmed">{text.problems.notFound}</Text> : <Skeleton height={300} />)}
      </Stack>
    </SidePanel>
  );
}

function Shown({ destination }: { destination: Whole }) {
  const { text } = useText();
  const me = useMe();
  const { base } = useDestination();
  const may = me.can("webhook.write");
  const id = String(destination.databaseId);
  return (
    <>
      {destination.autoDisabledAt && (
        <Alert color="red" title={text.webhooks.stopped} role="alert">
          <Text size="sm">{text.webhooks.stoppedHint} <When at={destination.autoDisabledAt} /></Text>
        </Alert>
      )}
      {destination.overlapEndsAt && <Alert title={text.webhooks.overlap}><Text size="sm">{text.webhooks.overlapHint} <When at={destination.overlapEndsAt} /></Text></Alert>}
      {may && <Enabled destination={destination} />}
      <Health id={destination.id} />
      <Facts of={[
        [text.webhooks.url, destination.url],
        ...(may ? [] : [[text.webhooks.enabled, destination.enabled ? text.ui.yes : text.ui.no] as const]),
        [text.webhooks.events, destination.events ? <EventList key="events" types={destination.events} /> : text.webhooks.eventsAll],
        [text.webhooks.signing, text.webhooks.signings[destination.signing]],
        [text.webhooks.since, <When key="since" at={destination.createdAt} />],
        [text.webhooks.id, destination.databaseId],
      ]} />
      <Group gap="xs">
        <To to={`${base}/deliveries`} search={{ destination: destination.databaseId }} icon={IconSend}>{text.webhooks.showDeliveries}</To>
        <To to={`${base}/destinations/${id}/verify`} search={true} icon={IconCode}>{text.webhooks.verify}</To>
        {may && (
          <>
            <To to={`${base}/destinations/${id}/edit`} search={true} icon={IconPencil}>{text.ui.edit}</To>
            <To to={`${base}/destinations/${id}/secret`} search={true} icon={IconKey}>{text.webhooks.rotate}</To>
            <To to={`${base}/destinations/${id}/recover`} search={true} icon={IconRotate}>{text.webhooks.recover}</To>
          </>
        )}
      </Group>
      {may && destination.enabled && (
        <Stack gap="xs" component="section" aria-label={text.webhooks.test}>
          <Title order={3} size="h5">{text.webhooks.test}</Title>
          <Test destination={destination} />
        </Stack>
      )}
      {may && <Remove destination={destination} />}
    </>
  );
}

function EventList({ types }: { types: readonly string[] }) {
  return <List size="sm" listStyleType="none">{types.map((type) => <List.Item key={type}>{type}</List.Item>)}</List>;
}

/** A button that leads somewhere. */
function To({ to, search, icon: Icon, children }: { to: string; search: true | { destination: number }; icon: typeof IconSend; children: string }) {
  return (
    <Button variant="default" size="xs" renderRoot={(props) => <Link to={to} search={search as true} {...props} />} leftSection={<Icon size={14} aria-hidden />}>{children}</Button>
  );
}

function Enabled({ destination: { id, enabled, version } }: { destination: Whole }) {
  const { text } = useText();
  const update = useChange(UpdateDestination);
  const { attempt } = useNotices();
  const [busy, setBusy] = useState(false);
  const turn = async (to: boolean) => {
    setBusy(true);
    await attempt(() => update({ input: { id, enabled: to, ifVersion: version } }));
    setBusy(false);
  };
  return (
    <Switch
      label={text.webhooks.enabled} description={enabled ? text.webhooks.enabledHint : text.webhooks.disabledHint} checked={enabled} disabled={busy}
      onChange={(event) => void turn(event.currentTarget.checked)}
    />
  );
}

function Remove({ destination }: { destination: Whole }) {
  const { text } = useText();
  const [open, setOpen] = useState(false);
  return (
    <>
      <Group><Button variant="subtle" color="red" size="xs" c="var(--mantine-color-red-light-color)" leftSection={<IconTrash size={14} aria-hidden />} onClick={() => setOpen(true)}>{text.webhooks.remove}</Button></Group>
      {open && <DeleteDestination destination={destination} close={() => setOpen(false)} />}
    </>
  );
}
