import { Alert, Anchor, Button, Group, Stack, Text } from "@mantine/core";
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
import { nameOf, stepsOf } from "./steps";
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
      <Faults check={check} of={agent} />
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

/** All that keeps a diagram from being published. Away from the diagram each leads to the step of the agent where it is. */
export function Faults({ check, of: agent }: { check: Check | undefined; of?: WholeAgent }) {
  const { text } = useText();
  const faults = check?.faults ?? [];
  if (faults.length === 0) return null;
  return (
    <Alert color="yellow" title={text.agents.faults(faults.length)}>
      <ul className="faults">
        {faults.map(({ location, message }) => <li key={location + message}>{location && <Place of={agent} location={location} />} {message}</li>)}
      </ul>
    </Alert>
  );
}

function Place({ of: agent, location }: { of: WholeAgent | undefined; location: string }) {
  const found = /^(?:steps\[(\d+)\]|(output))\.?(.*)$/.exec(location);
  if (!agent || !found) return <code>{location}</code>;
  const at = Number(found[1]);
  const step = stepsOf(agent.draft as Json)[at];
  const search = { step: step ? at + 1 : "output" } as const;
  return (
    <>
      <Anchor renderRoot={(props) => <Link to="/agents/$agentId" params={{ agentId: String(agent.databaseId) }} search={search} {...props} />} size="sm">{step ? nameOf(step, at) : location}</Anchor>
      {step && found[3] && <> <code>{found[3]}</code></>}
    </>
  );
}
