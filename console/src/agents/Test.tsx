import { Alert, Button, Group, Skeleton, Stack, Text, Textarea, TextInput, Title } from "@mantine/core";
import { IconPlayerPlay } from "@tabler/icons-react";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { useChange } from "../graph/hooks";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { Empty } from "../ui/Empty";
import "../ui/lists.css";
import { Problem } from "../ui/Problem";
import { useFocusBack } from "../ui/useFocusBack";
import { useNotices } from "../ui/useNotices";
import { useSubmit } from "../ui/useSubmit";
import { useAgent, type WholeAgent } from "./Agent";
import { EnableAgent, StartRun } from "./agents.gql";
import { Faults, Publish } from "./Changes";
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
  if (!agent.enabled) return <Disabled agent={agent} />;
  if (!agent.runnable) return <Unpublished agent={agent} />;
  return (
    <div className="trying">
      <Form agent={agent} ran={run !== undefined} />
      <section aria-label={text.agents.run}>
        {run ? <Shown key={run} jobKey={run} /> : <Empty title={text.agents.noTest} hint={text.agents.noTestHint} />}
      </section>
    </div>
  );
}

function Disabled({ agent }: { agent: WholeAgent }) {
  const { text } = useText();
  const me = useMe();
  const enable = useChange(EnableAgent);
  const { attempt } = useNotices();
  const can = me.can("agent.write");
  return (
    <Empty
      title={text.agents.isDisabled} hint={can ? text.agents.isDisabledHint : text.agents.askWriter}
      action={can && <Button onClick={() => void attempt(() => enable({ input: { id: agent.id } }))}>{text.agents.enable}</Button>}
    />
  );
}

/** A draft can't run: it is published from here, and then tested. */
function Unpublished({ agent }: { agent: WholeAgent }) {
  useFocusBack(); // its button goes with it
  const { text } = useText();
  const me = useMe();
  const { check } = useCheck(agent.draft as Json);
  const can = me.can("agent.write");
  return (
    <>
      <Empty title={text.agents.notPublished} hint={can ? text.agents.notPublishedHint : text.agents.askWriter} action={can && <Publish agent={agent} check={check} word={text.agents.publishAndTest} />} />
      {can && <Faults check={check} of={agent} />}
    </>
  );
}

/** Says that the draft is not what runs, and lets one make it that. */
function Newer({ agent }: { agent: WholeAgent }) {
  const { text } = useText();
  const me = useMe();
  const { check } = useCheck(agent.draft as Json);
  return (
    <Alert color="yellow" role="note" title={text.agents.testsPublished(agent.published!.number)}>
      <Stack gap="xs">
        <Text size="sm">{text.agents.testsPublishedHint}</Text>
        <Group gap="xs" align="start">
          {me.can("agent.write") && <Publish agent={agent} check={check} word={text.agents.publishDraft} />}
          <Button component={Link} to={`/agents/${agent.databaseId}/changes`} variant="default">{text.agents.showChanges}</Button>
        </Group>
        <Faults check={check} of={agent} />
      </Stack>
    </Alert>
  );
}

function Form({ agent, ran }: { agent: WholeAgent; ran: boolean }) {
  const { text } = useText();
  const navigate = useNavigate();
  const start = useChange(StartRun);
  const { check } = useCheck(agent.published!.diagram as Json);
  const [typed, setTyped] = useState<string>();
  const [texts, setTexts] = useState<{ [name: string]: string }>({});
  const [wrong, setWrong] = useState(false);
  const members = membersOf(check);
  const json = typed ?? written(Object.fromEntries(members.map((name) => [name, ""])));
  const given = parsed(json);
  const fill = (name: string, text: string) => {
    setTexts({ ...texts, [name]: text });
    setTyped(written({ ...(isObject(given) ? given : {}), [name]: valueOf(text) }));
  };
  const submit = useSubmit(async () => {
    const input = parsed(json);
    setWrong(!isObject(input));
    if (!isObject(input)) return;
    const { startRun } = await start({ input: { agentId: agent.id, input } });
    await navigate({ to: "/agents/$agentId/test", params: { agentId: String(agent.databaseId) }, search: { run: startRun!.jobKey }, replace: true });
  });
  const changed = written(agent.draft) !== written(agent.published!.diagram);
  return (
    <Stack>
      {changed && <Newer agent={agent} />}
      <form onSubmit={submit.onSubmit}>
        <Stack>
          <Problem error={submit.rest("input")} />
          {members.map((name, index) => {
            const value = isObject(given) ? given[name] : undefined;
            // How a number was typed is kept: 0.10 on the way to 0.105.
            const text = texts[name] !== undefined && valueOf(texts[name]) === value ? texts[name] : value;
            return (typeof text === "string" || typeof text === "number") && <TextInput key={name} label={name} autoFocus={index === 0 && !ran && typed === undefined} value={text} onChange={({ currentTarget: { value } }) => fill(name, value)} />;
          })}
          <Textarea
            label={text.agents.input} description={check && (members.length > 0 ? text.agents.inputReads(members.join(", ")) : text.agents.inputHint)} rows={8} spellCheck={false}
            styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
            error={wrong ? text.agents.noObject : submit.fault("input")} value={json} onChange={({ currentTarget: { value } }) => setTyped(value)}
          />
          <Group><Button type="submit" loading={submit.busy} leftSection={<IconPlayerPlay size={16} aria-hidden />}>{text.agents.start}</Button></Group>
        </Stack>
      </form>
    </Stack>
  );
}

/** The members of the input that a diagram reads anywhere. */
function membersOf(check: Check | undefined): string[] {
  return [...new Set((check ? [...check.steps, check.output] : []).flatMap(({ input }) => input))].sort();
}

/** What somebody means who types it into a field: a number, where it is one. */
function valueOf(text: string): string | number {
  return /^-?\d{1,15}(\.\d+)?$/.test(text) ? Number(text) : text;
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
