import { Alert, Anchor, Badge, Button, Group, Loader, Stack, Text, Title } from "@mantine/core";
import { IconPlayerStop, IconRefresh } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { useChange } from "../graph/hooks";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { CopyText } from "../ui/CopyText";
import { Facts } from "../ui/Facts";
import { Failed } from "../ui/Failed";
import { useNotices } from "../ui/useNotices";
import { When } from "../ui/When";
import { CancelRun, StartRun } from "./agents.gql";
import { RunDeliveries } from "./RunDeliveries";
import { RunState, stateOf } from "./State";
import { nameOf, stepsOf } from "./steps";
import { duration, took } from "./time";
import type { WholeRun } from "./useRun";
import { isObject, type Json, written } from "./value";

/** One run: how it stands, what came out and went in, and each step. */
export function RunView({ run, show }: { run: WholeRun; show: (jobKey: string) => void }) {
  const { text, format } = useText();
  const me = useMe();
  const { agent, revision, createdAt, finishedAt, jobKey, input, output } = run;
  return (
    <>
      <Group justify="space-between">
        <div role="status"><RunState of={run} /></div>
        <Deeds run={run} show={show} />
      </Group>
      {stateOf(run) === "cancelled"
        ? <Alert color="gray" title={text.agents.wasCancelled}><Text size="sm">{text.agents.wasCancelledHint}</Text></Alert>
        : <Failure of={run.error} />}
      {output !== null && <Value title={text.agents.output} value={output} />}
      <Facts of={[
        [text.agents.one, agent ? <Anchor key="agent" component={Link} to={`/agents/${agent.databaseId}`} size="sm">{agent.name}</Anchor> : text.agents.agentGone],
        [text.agents.ranRevision, format.number(revision.number)],
        [text.agents.started, <When key="started" at={createdAt} />],
        [text.agents.took, finishedAt ? took(createdAt, finishedAt, format) : text.agents.notYet],
        [text.agents.jobKey, jobKey],
      ]} />
      <Value title={text.agents.input} value={input} />
      <Steps run={run} />
      {me.can("webhook.read") && <RunDeliveries run={run} />}
    </>
  );
}

/** What can be done with a run: end it, or begin another one with the same input. */
function Deeds({ run: { agent, status, jobKey, input }, show }: { run: WholeRun; show: (jobKey: string) => void }) {
  const { text } = useText();
  const me = useMe();
  const start = useChange(StartRun);
  const cancel = useChange(CancelRun);
  const { attempt } = useNotices();
  const [busy, setBusy] = useState(false);
  if (!me.can("agent.run")) return null;
  const during = async (work: () => Promise<unknown>) => {
    setBusy(true);
    await attempt(work);
    setBusy(false);
  };
  if (status === "running") {
    return (
      <Button size="xs" variant="default" leftSection={<IconPlayerStop size={14} aria-hidden />} loading={busy} onClick={() => void during(() => cancel({ input: { jobKey } }))}>
        {text.agents.cancel}
      </Button>
    );
  }
  return agent && (
    <Button
      size="xs" variant="default" leftSection={<IconRefresh size={14} aria-hidden />} loading={busy}
      onClick={() => void during(async () => show((await start({ input: { agentId: agent.id, input } })).startRun!.jobKey))}
    >
      {text.agents.runAgain}
    </Button>
  );
}

/** Why a run or a step has failed. */
function Failure({ of: error }: { of: unknown }) {
  const { text } = useText();
  if (!isObject(error)) return null;
  const { code, message, step } = error;
  return (
    <Alert color="red" title={typeof step === "string" ? text.agents.failedAt(step) : text.agents.failed}>
      <Text size="sm"><Failed kind={String(code)} said={String(message)} /></Text>
      <Text size="xs">{String(code)}</Text>
    </Alert>
  );
}

function Value({ title, value }: { title: string; value: unknown }) {
  const json = written(value);
  return (
    <Stack gap="xs" component="section" aria-label={title}>
      <Group justify="space-between"><Title order={3} size="h5">{title}</Title><CopyText value={json} /></Group>
      <pre className="wire wrap" tabIndex={0} aria-label={title}>{json}</pre>
    </Stack>
  );
}

/** The steps that are done, the one that is under way, or was as the run was cancelled, and those that are still to come, or never did. */
function Steps({ run }: { run: WholeRun }) {
  const { steps, currentStep, revision, status } = run;
  const { text } = useText();
  const planned = stepsOf(revision.diagram as Json);
  const running = status === "running";
  const waiting = running || stateOf(run) === "cancelled" ? planned.slice(steps.length) : [];
  const words = running ? [text.agents.underWay, text.agents.toCome] : [text.agents.cutOff, text.agents.neverCame];
  const current = currentStep?.position === steps.length ? currentStep : null; // one that is done by now may still stand there
  return (
    <Stack gap="xs" component="section" aria-label={text.agents.steps}>
      <Title order={3} size="h5">{text.agents.steps}</Title>
      {planned.length === 0 && <Text size="sm" c="dimmed">{text.agents.noSteps}</Text>}
      <ol className="run-steps" aria-live="polite">
        {steps.map((step) => <Step key={step.position} step={step} longest={Math.max(...steps.map(({ durationMs }) => durationMs))} />)}
        {waiting.map((step, index) => (
          <li key={steps.length + index} className="quiet">
            <Group gap="xs" justify="space-between">
              <Group gap="xs">{running && index === 0 && <Loader size="xs" aria-hidden />}<strong>{nameOf(step, steps.length + index)}</strong> {String(step.type)} · {words[Math.min(index, 1)]}</Group>
              {index === 0 && current && <SoFar since={current.startedAt} />}
            </Group>
            {index === 0 && current && current.input !== null && (
              <Folded title={text.agents.given} label={text.agents.givenTo(nameOf(step, steps.length))} value={current.input} />
            )}
          </li>
        ))}
      </ol>
    </Stack>
  );
}

/** For how long a step has been under way. A timer is not read out at each second. */
function SoFar({ since }: { since: string }) {
  const { text, format } = useText();
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const each = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(each);
  }, []);
  const seconds = Math.max(0, Math.round((now - new Date(since).getTime()) / 1000));
  return <span role="timer" title={format.exact(since)}>{text.agents.soFar(format.number(seconds))}</span>;
}

function Step({ step: { stepId, type, input, result, error, startedAt, durationMs }, longest }: { step: WholeRun["steps"][number]; longest: number }) {
  const { text, format } = useText();
  return (
    <li>
      <Group gap="xs" justify="space-between">
        <span><strong>{stepId}</strong> <span className="quiet">{type}</span></span>
        <span className="quiet">{duration(durationMs, format)} · <When at={startedAt} /></span>
      </Group>
      <div className="lasting" aria-hidden><div style={{ width: `${(100 * durationMs) / Math.max(longest, 1)}%` }} /></div>
      {isObject(error) && <Text size="sm" c="var(--mantine-color-error)"><Failed kind={String(error.code)} said={String(error.message)} /> <span className="quiet">{String(error.code)}</span></Text>}
      {error === null && result === null && <Badge variant="light" color="gray" tt="none" w="fit-content">{text.agents.passedOver}</Badge>}
      {foundNothing(type, result) && <FoundNothing given={input} />}
      {input !== null && <Folded title={text.agents.given} label={text.agents.givenTo(stepId)} value={input} />}
      {result !== null && <Folded title={text.agents.result} label={text.agents.resultOf(stepId)} value={result} />}
    </li>
  );
}

/** Whether a step has looked into a context, and found nothing there. */
function foundNothing(type: string, result: unknown): boolean {
  return type === "search" ? Array.isArray(result) && result.length === 0 : type === "ask" && isObject(result) && result.nothingFound === true;
}

/** What was looked for in which context, and how to go on: what is closest there, and its documents. */
function FoundNothing({ given }: { given: unknown }) {
  const { text } = useText();
  const me = useMe();
  if (!isObject(given) || typeof given.contextId !== "number" || typeof given.prompt !== "string") return null;
  const { contextId, prompt } = given;
  return (
    <Alert color="yellow" title={text.agents.foundNothing(prompt)}>
      <Text size="sm">{text.agents.foundNothingHint}</Text>
      {me.can("context.read") && (
        <Group gap="md" mt="xs">
          <Anchor component={Link} to={`/contexts/${contextId}`} size="sm">{text.agents.itsDocuments}</Anchor>
          <Anchor size="sm" renderRoot={(props) => <Link to="/contexts/$contextId/search" params={{ contextId: String(contextId) }} search={{ prompt, threshold: 0 }} {...props} />}>{text.agents.itsClosest}</Anchor>
        </Group>
      )}
    </Alert>
  );
}

function Folded({ title, label, value }: { title: string; label: string; value: unknown }) {
  return (
    <details>
      <summary>{title}</summary>
      <pre className="wire wrap" tabIndex={0} aria-label={label}>{written(value)}</pre>
    </details>
  );
}
