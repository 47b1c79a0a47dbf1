import { Alert, Anchor, Button, Group, Skeleton, Stack, Text, Textarea, Title } from "@mantine/core";
import { IconPlayerPlay } from "@tabler/icons-react";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { useChange } from "../graph/hooks";
import { useText } from "../text";
import { Empty } from "../ui/Empty";
import "../ui/lists.css";
import { Problem } from "../ui/Problem";
import { useSubmit } from "../ui/useSubmit";
import { useAgent, type WholeAgent } from "./Agent";
import { StartRun } from "./agents.gql";
import { RunView } from "./RunView";
import { type Check, useCheck } from "./useCheck";
import { useRun } from "./useRun";
import { isObject, type Json, parsed, written } from "./value";

/** Runs what is published with an input, and shows each step as it is done. */
export function Test() {
  const { text } = useText();
  const { agent } = useAgent();
  const { run } = useSearch({ from: "/inside/agents/$agentId/test" });
  if (!agent) return null;
  if (!agent.runnable) {
    return (
      <Empty
        title={agent.enabled ? text.agents.notPublished : text.agents.isDisabled} hint={agent.enabled ? text.agents.notPublishedHint : text.agents.isDisabledHint}
        action={agent.enabled && <Button variant="default" component={Link} to={`/agents/${agent.databaseId}/changes`}>{text.agents.changes}</Button>}
      />
    );
  }
  return (
    <div className="trying">
      <Form key={agent.published?.id} agent={agent} />
      <section aria-label={text.agents.run}>
        {run ? <Shown key={run} jobKey={run} /> : <Empty title={text.agents.noTest} hint={text.agents.noTestHint} />}
      </section>
    </div>
  );
}

function Form({ agent }: { agent: WholeAgent }) {
  const { text } = useText();
  const navigate = useNavigate();
  const start = useChange(StartRun);
  const { check } = useCheck(agent.published!.diagram as Json);
  const [typed, setTyped] = useState<string>();
  const [wrong, setWrong] = useState(false);
  const members = membersOf(check);
  const json = typed ?? written(Object.fromEntries(members.map((name) => [name, ""])));
  const submit = useSubmit(async () => {
    const input = parsed(json);
    setWrong(!isObject(input));
    if (!isObject(input)) return;
    const { startRun } = await start({ input: { agentId: agent.id, input } });
    await navigate({ to: "/agents/$agentId/test", params: { agentId: String(agent.databaseId) }, search: { run: startRun!.jobKey }, replace: true });
  });
  const changed = written(agent.draft) !== written(agent.published!.diagram);
  return (
    <form onSubmit={submit.onSubmit}>
      <Stack>
        {changed && (
          <Alert color="yellow">
            <Text size="sm">{text.agents.testsPublished(agent.published!.number)}</Text>
            <Anchor component={Link} to={`/agents/${agent.databaseId}/changes`} size="sm">{text.agents.changes}</Anchor>
          </Alert>
        )}
        <Problem error={submit.rest("input")} />
        <Textarea
          label={text.agents.input} description={members.length > 0 ? text.agents.inputReads(members.join(", ")) : text.agents.inputHint} rows={8} spellCheck={false}
          styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
          error={wrong ? text.agents.noObject : submit.fault("input")} value={json} onChange={({ currentTarget: { value } }) => setTyped(value)}
        />
        <Group><Button type="submit" loading={submit.busy} leftSection={<IconPlayerPlay size={16} aria-hidden />}>{text.agents.start}</Button></Group>
      </Stack>
    </form>
  );
}

/** The members of the input that a diagram reads anywhere. */
function membersOf(check: Check | undefined): string[] {
  return [...new Set((check ? [...check.steps, check.output] : []).flatMap(({ input }) => input))].sort();
}

function Shown({ jobKey }: { jobKey: string }) {
  const { text } = useText();
  const navigate = useNavigate();
  const { run, asked, error, again } = useRun(jobKey);
  const heading = text.agents.run;
  // What was started is looked at: who hears the page is told that it has begun.
  useEffect(() => document.getElementById("run-title")?.focus({ preventScroll: true }), []);
  return (
    <Stack>
      <Title order={2} size="h4" id="run-title" tabIndex={-1}>{heading}</Title>
      <Problem error={error} again={again} />
      {run ? <RunView run={run} show={(next) => navigate({ to: ".", search: { run: next }, replace: true })} /> : !error && (asked ? <Text c="dimmed">{text.agents.runGone}</Text> : <Skeleton height={300} />)}
    </Stack>
  );
}
