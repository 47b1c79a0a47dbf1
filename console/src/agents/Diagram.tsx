import { Alert, Button, Group, SegmentedControl, Skeleton, Stack, Text } from "@mantine/core";
import { useHotkeys, useMediaQuery } from "@mantine/hooks";
import { useBlocker, useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useRef, useState } from "react";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { CopyText } from "../ui/CopyText";
import { Problem } from "../ui/Problem";
import { useUnsaved } from "../ui/unsaved";
import { type DiagramSearch, views } from "./address";
import { useAgent, type WholeAgent } from "./Agent";
import { Faults } from "./Changes";
import { Conflict } from "./Conflict";
import { JsonView } from "./JsonView";
import { OutputForm } from "./OutputForm";
import { StepForm } from "./StepForm";
import { Steps } from "./Steps";
import { type Chosen, outputOf, stepsOf } from "./steps";
import { useCheck } from "./useCheck";
import { useDraft } from "./useDraft";

// The drawing has a library of its own, which is loaded with it.
const Drawing = lazy(() => import("./Drawing").then(({ Drawing }) => ({ default: Drawing })));

/** The diagram: its steps as a list, drawn, as forms, and as JSON. */
export function Diagram() {
  const { agent, again } = useAgent();
  return agent && <Inside agent={agent} again={again} />;
}

/** What is chosen and how the diagram is shown. Both stand in the address, which follows: what is chosen takes what is typed next, and waits for nothing. */
function useShown() {
  const search = useSearch({ from: "/inside/agents/$agentId/" });
  const navigate = useNavigate();
  const wide = useMediaQuery("(min-width: 75em)", true, { getInitialValueInEffect: false });
  const [chosen, setChosen] = useState<Chosen>(typeof search.step === "number" ? search.step - 1 : search.step ?? 0);
  const note = (more: DiagramSearch) => void navigate({ to: ".", search: { ...search, ...more }, replace: true, resetScroll: false });
  const { view = "drawing" } = search;
  return {
    chosen, wide,
    // Where both have no room beside each other they take turns.
    view: !wide && view === "both" ? "drawing" as const : view,
    choose: (next: Chosen) => {
      setChosen(next);
      note({ step: next === "output" ? next : next === 0 ? undefined : next + 1 });
    },
    show: (next: string) => {
      const view = views.find((one) => one === next);
      note({ view: view === "drawing" ? undefined : view });
    },
  };
}

function Inside({ agent, again }: { agent: WholeAgent; again: () => void }) {
  const { text } = useText();
  const me = useMe();
  const can = me.still("agent.write");
  const draft = useDraft(agent, again);
  const { check, error } = useCheck(draft.value);
  const { chosen, choose, view, show, wide } = useShown();
  useUnsaved(draft.dirty);
  useBlocker({
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname && draft.dirty && !window.confirm(text.app.leave), enableBeforeUnload: () => draft.dirty,
  });
  useHotkeys([["mod+S", () => void (can && draft.dirty && draft.save())]], []);
  const form = useRef<HTMLElement>(null);
  const steps = stepsOf(draft.shown);
  const at = chosen === "output" ? chosen : Math.min(chosen, steps.length - 1);
  // What is no JSON can be changed as text alone.
  const change = can && draft.value !== undefined ? draft.change : undefined;
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <SegmentedControl
          transitionDuration={0} size="xs" aria-label={text.agents.view} value={view} onChange={show}
          data={[{ value: "drawing", label: text.agents.drawing }, ...(wide ? [{ value: "both", label: text.agents.both }] : []), { value: "json", label: "JSON" }]}
        />
        {can ? (
          <Group gap="xs">
            <Text size="sm" c="dimmed" role="status">{draft.dirty ? text.agents.unsaved : text.agents.allSaved}</Text>
            {draft.dirty && <Button variant="default" size="xs" onClick={draft.reset}>{text.agents.dropChanges}</Button>}
            <Button size="xs" loading={draft.busy} disabled={!draft.dirty || draft.value === undefined} onClick={() => void draft.save()}>{text.ui.save}</Button>
          </Group>
        ) : (
          <Group gap="xs">
            <Text size="sm" c="dimmed">{text.agents.readOnly}</Text>
            {draft.dirty && <CopyText value={draft.source} label={text.agents.copyDraft} />}
            {draft.dirty && <Button variant="default" size="xs" onClick={draft.reset}>{text.agents.dropChanges}</Button>}
          </Group>
        )}
      </Group>
      {draft.theirs !== undefined ? <Conflict draft={draft} /> : <Problem error={draft.error} />}
      {error && <Alert color="yellow">{text.agents.notChecked}</Alert>}
      <div className="diagram" data-view={view}>
        <Steps steps={steps} check={check} chosen={at} choose={choose} change={change} enter={() => requestAnimationFrame(() => form.current?.querySelector<HTMLElement>("input, textarea, button")?.focus())} />
        {view !== "json" && (
          <Suspense fallback={<Skeleton className="drawing" />}>
            <Drawing steps={steps} check={check} chosen={at} choose={choose} change={change} />
          </Suspense>
        )}
        {view !== "drawing" && <JsonView draft={draft} can={can} />}
        <section ref={form} className="of-step" aria-label={at === "output" ? text.agents.output : text.agents.step}>
          {at === "output" ? <OutputForm output={outputOf(draft.shown)} check={check} change={change} />
            : steps[at] ? <StepForm key={at} step={steps[at]} at={at} steps={steps} check={check} change={change} agentId={String(agent.databaseId)} />
            : <Text c="dimmed" size="sm">{can ? text.agents.noStepsHint : text.agents.noSteps}</Text>}
        </section>
      </div>
      <Faults check={check} />
    </Stack>
  );
}
