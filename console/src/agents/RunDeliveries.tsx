import { Anchor, Group, Stack, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useEffect } from "react";
import { useAsk } from "../graph/hooks";
import { useText } from "../text";
import { Problem } from "../ui/Problem";
import { runOf } from "../webhooks/payload";
import { DeliveryState } from "../webhooks/State";
import { EventDeliveries } from "./agents.gql";
import type { WholeRun } from "./useRun";

// How often deliveries that are on their way are asked for again, in milliseconds.
const pause = 3000;

/** What webhooks were told of a run, and the ways to that. */
export function RunDeliveries({ run: { jobKey, status, createdAt, finishedAt } }: { run: WholeRun }) {
  const { text } = useText();
  const begun = useTold(jobKey, "run.started", createdAt);
  const ended = useTold(jobKey, status === "finished" ? "run.completed" : "run.failed", finishedAt);
  const told = [...begun.told, ...ended.told];
  const failed = [begun, ended].find(({ error }) => error);
  return (
    <Stack gap="xs" component="section" aria-label={text.agents.told}>
      <Title order={3} size="h5">{text.agents.told}</Title>
      <Problem error={failed?.error} again={failed?.again} />
      {begun.known && told.length === 0 && <Text size="sm" c="dimmed">{text.agents.toldNobody}</Text>}
      {told.map(({ id, databaseId, type, status, destination }) => (
        <Group key={id} justify="space-between" wrap="nowrap">
          <Text size="sm" style={{ overflowWrap: "anywhere" }}>
            <Anchor component={Link} to={`/webhooks/deliveries/${databaseId}`} size="sm" td="underline">{type}</Anchor> · {destination ? destination.name || destination.url : text.webhooks.destinationGone}
          </Text>
          <DeliveryState status={status} />
        </Group>
      ))}
    </Stack>
  );
}

/**
 * The deliveries of one of a run's events. An event is written in the transaction of what it tells of, so its deliveries are of the same
 * moment; which of those of that moment are the run's own is read from their bodies.
 */
function useTold(jobKey: string, type: string, at: string | null) {
  const since = new Date(at ?? 0);
  const until = new Date(since.getTime() + 1);
  const { data, error, again } = useAsk(EventDeliveries, { type, since: since.toISOString(), until: until.toISOString() }, { pause: at === null });
  const told = data?.webhookDeliveries?.nodes.filter(({ test, payload }) => !test && runOf(payload) === jobKey) ?? [];
  const waits = told.some(({ status }) => status === "pending");
  useEffect(() => {
    if (!waits) return;
    const timer = setInterval(again, pause);
    return () => clearInterval(timer);
  }, [waits, again]);
  return { told, known: Boolean(data?.webhookDeliveries), error, again };
}
