import { Anchor, Skeleton, Stack, Text } from "@mantine/core";
import { usePolled } from "../graph/usePolled";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { PageHead } from "../ui/Page";
import { Problem } from "../ui/Problem";
import { When } from "../ui/When";
import { Busiest } from "./Busiest";
import { Failing } from "./Failing";
import { LateMails } from "./LateMails";
import { Limits } from "./Limits";
import { Operations as Ask, type OperationsResult } from "./operations.gql";
import { Section } from "./Section";

type Known = OperationsResult["operations"];

/** How the platform fares, for who runs it: what waits, who works, and what needs a look. */
export function Operations() {
  const { text } = useText();
  const me = useMe();
  const { data, error, again } = usePolled(Ask, {});
  const known = data?.operations;
  return (
    <Stack gap="lg">
      <PageHead title={text.operations.title} />
      <Problem error={error} again={again} />
      {!known && !error && <Skeleton height={400} />}
      {known && (
        <>
          <Queues known={known} />
          <Workers known={known} />
          {me.can("webhook.read") && <Failing />}
          <LateMails mails={known.lateMails} />
          {me.can("company.read") && <Busiest />}
          <Limits known={known} />
        </>
      )}
    </Stack>
  );
}

function Queues({ known: { queues } }: { known: Known }) {
  const { text, format } = useText();
  const waiting = queues.filter(({ waiting }) => waiting > 0);
  return (
    <Section
      title={text.operations.queues} none={text.operations.nothingWaits} rows={waiting} keyOf={({ name }) => name}
      hint={<>{text.operations.queuesHint} <Anchor href="/monitoring/" size="sm" td="underline">{text.operations.monitoring}</Anchor></>}
      columns={[
        { title: text.operations.work, by: ({ name }) => text.operations.kind(name), cell: ({ name }) => text.operations.kind(name) },
        { title: text.operations.waiting, by: ({ waiting }) => waiting, cell: ({ waiting }) => format.number(waiting) },
        { title: text.operations.since, by: ({ waitingSince }) => waitingSince, cell: ({ waitingSince }) => <When at={waitingSince} /> },
      ]}
    />
  );
}

function Workers({ known: { version, workers } }: { known: Known }) {
  const { text } = useText();
  const others = workers?.filter((worker) => worker.version !== version).length ?? 0;
  return (
    <Section
      title={text.operations.workers} none={workers ? text.operations.noWorkers : text.operations.workersUnknown}
      hint={text.operations.answers(version)} rows={workers ?? []} keyOf={({ host, pid, startedAt }) => `${host} ${pid} ${startedAt}`}
      columns={[
        { title: text.operations.machine, by: ({ host, pid }) => `${host} (${pid})`, cell: ({ host, pid }) => `${host} (${pid})` },
        { title: text.operations.version, by: ({ version }) => version, cell: ({ version }) => version },
        { title: text.operations.does, cell: ({ queues }) => queues.map(text.operations.kind).join(", ") },
        { title: text.operations.started, by: ({ startedAt }) => startedAt, cell: ({ startedAt }) => <When at={startedAt} /> },
      ]}
    >
      {others > 0 && <Text size="sm" role="status">{text.operations.otherVersions(others)}</Text>}
    </Section>
  );
}
