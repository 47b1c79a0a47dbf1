import { Anchor, Skeleton, Stack, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useAsk } from "../graph/hooks";
import { useText } from "../text";
import { Failed } from "../ui/Failed";
import { Problem } from "../ui/Problem";
import { When } from "../ui/When";
import { useBase } from "./base";
import { useDayAgo } from "../ui/since";
import { LastDay } from "./LastDay";
import { kindOf } from "./failure";
import { useLive } from "./useLive";
import { FailingSince, Health as Ask, type HealthResult } from "./webhooks.gql";

type Known = NonNullable<HealthResult["webhookDestination"]>;

/** How deliveries to a destination went in the last 24 hours, and since when they fail. */
export function Health({ id }: { id: string }) {
  const { text, format } = useText();
  const since = useDayAgo();
  const { data, error, again } = useAsk(Ask, { id, since });
  useLive([id], again);
  const known = data?.webhookDestination;
  const count = ({ totalCount, totalCountCapped }: { totalCount: number; totalCountCapped: boolean }) =>
    totalCountCapped ? text.webhooks.over(format.number(totalCount)) : format.number(totalCount);
  if (!known) return error ? <Problem error={error} again={again} /> : <Skeleton height={90} />;
  const took = known.delivered.nodes.flatMap(({ attemptLog }) => attemptLog.slice(-1).map(({ durationMs }) => durationMs)).sort((a, b) => a - b);
  const ms = (part: number) => (took.length === 0 ? "–" : text.webhooks.ms(format.number(Math.round(took[Math.min(took.length - 1, Math.floor(took.length * part))]!))));
  return (
    <Stack gap="xs" component="section" aria-label={text.webhooks.lastDay}>
      <Title order={3} size="h5">{text.webhooks.lastDay}</Title>
      <dl className="health">
        <div><dt>{text.webhooks.statuses.delivered}</dt><dd>{count(known.delivered)}</dd></div>
        <div><dt>{text.webhooks.lost}</dt><dd>{count(known.lost)}</dd></div>
        <div><dt>{text.webhooks.waiting}</dt><dd>{count(known.waiting)}</dd></div>
        <div><dt>{text.webhooks.median}</dt><dd>{ms(0.5)}</dd></div>
        <div><dt>{text.webhooks.slowest}</dt><dd>{ms(0.95)}</dd></div>
      </dl>
      <Failing known={known} />
      <LastDay id={id} since={since} />
    </Stack>
  );
}

/** Since when nothing got through, and why; nothing where the last one did. */
function Failing({ known: { id, lastDelivered, lastLost } }: { known: Known }) {
  const { text } = useText();
  const base = useBase();
  const good = lastDelivered.nodes[0];
  const bad = lastLost.nodes[0];
  const failing = bad !== undefined && (!good || bad.createdAt > good.createdAt);
  const { data } = useAsk(FailingSince, { id, after: good?.createdAt ?? null }, { pause: !failing });
  if (!failing) return <Text size="sm" c="dimmed">{good ? <>{text.webhooks.lastDelivered} <When at={good.completedAt} /></> : text.webhooks.nothingSentYet}</Text>;
  const first = data?.webhookDestination?.firstLost.nodes[0];
  return (
    <Text size="sm">
      {text.webhooks.failingSince} <When at={first?.createdAt ?? bad.createdAt} />{bad.error && <>: <Failed kind={kindOf(bad)} said={bad.error} /></>}{" "}
      <Anchor component={Link} to={`${base}/deliveries/${bad.databaseId}`} size="sm" td="underline">{text.webhooks.showLast}</Anchor>
    </Text>
  );
}
