import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useChange } from "../graph/hooks";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { Empty } from "../ui/Empty";
import { useNotices } from "../ui/useNotices";
import { useSubmit } from "../ui/useSubmit";
import { Problem } from "../ui/Problem";
import { When } from "../ui/When";
import { useAgent, type WholeAgent } from "./Agent";
import { PublishAgent } from "./agents.gql";
import { Diff } from "./Diff";
import { type Check, useCheck } from "./useCheck";
import { type Json, written } from "./value";

/** The draft against what is published, and the way to publish it. */
export function Changes() {
  const { agent } = useAgent();
  return agent && <Inside agent={agent} />;
}

function Inside({ agent }: { agent: WholeAgent }) {
  const { text } = useText();
  const me = useMe();
  const { draft, published } = agent;
  const { check, error } = useCheck(draft as Json);
  const [before, after] = [published ? written(published.diagram) : "", written(draft)];
  const same = published !== null && before === after;
  return (
    <Stack>
      <Group justify="space-between">
        <Text size="sm">
          {published ? <>{text.agents.publishedNow(published.number)} <When at={published.createdAt} /></> : text.agents.neverPublished}
        </Text>
        {me.can("agent.write") && !same && <Publish agent={agent} check={check} />}
      </Group>
      <Problem error={error} />
      <Faults check={check} />
      {same ? <Empty title={text.agents.same} hint={text.agents.sameHint} /> : <Diff label={text.agents.changes} before={before} after={after} />}
    </Stack>
  );
}

/** Makes the draft what runs. */
export function Publish({ agent, check, word }: { agent: WholeAgent; check: Check | undefined; word?: string }) {
  const { text } = useText();
  const publish = useChange(PublishAgent);
  const { say } = useNotices();
  const submit = useSubmit(async () => {
    await publish({ input: { id: agent.id } });
    say(text.agents.publishedSaid(agent.name));
  });
  return (
    <form onSubmit={submit.onSubmit}>
      <Stack gap="xs" align="flex-end">
        <Problem error={submit.error} />
        <Button type="submit" loading={submit.busy} disabled={!check || check.faults.length > 0}>{word ?? text.agents.publish}</Button>
      </Stack>
    </form>
  );
}

/** All that keeps a diagram from being published. */
export function Faults({ check, to }: { check: Check | undefined; to?: string }) {
  const { text } = useText();
  const faults = check?.faults ?? [];
  if (faults.length === 0) return null;
  return (
    <Alert color="yellow" title={text.agents.faults(faults.length)}>
      <ul className="faults">
        {faults.map(({ location, message }) => <li key={location + message}>{location && <code>{location}</code>} {message}</li>)}
      </ul>
      {to && <Button size="xs" variant="default" component={Link} to={to}>{text.agents.toDiagram}</Button>}
    </Alert>
  );
}
