import { ActionIcon, Button, Group, Menu, Stack, Title } from "@mantine/core";
import { IconAlertTriangle, IconArrowDown, IconArrowUp, IconCopy, IconPlus, IconTrash } from "@tabler/icons-react";
import { useText } from "../text";
import { useNotices } from "../ui/useNotices";
import { type Change, type Chosen, freeId, moved, nameOf, newStep, types } from "./steps";
import { type Check, faultsAt } from "./useCheck";
import type { JsonObject } from "./value";

/** The steps in the order in which they are executed. Everything that the drawing does can be done here, by keyboard. */
export function Steps({ steps, check, chosen, choose, enter, change }: {
  steps: readonly JsonObject[]; check: Check | undefined; chosen: Chosen; choose: (at: Chosen) => void; enter: () => void; change: Change | undefined;
}) {
  const { text } = useText();
  const press = (at: Chosen) => ({ detail }: { detail: number }) => {
    choose(at);
    // A key, and no pointer: the form would be many keys away.
    if (detail === 0) enter();
  };
  return (
    <Stack gap="xs" component="section" aria-label={text.agents.steps} className="step-list">
      <Group justify="space-between" wrap="nowrap">
        <Title order={2} size="h5">{text.agents.steps}</Title>
        {change && <Add steps={steps} chosen={chosen} choose={choose} change={change} />}
      </Group>
      <ol>
        {steps.map((step, at) => (
          <li key={at}>
            <button type="button" aria-current={at === chosen || undefined} onClick={press(at)}>
              <span className="number">{at + 1}</span><span className="name">{nameOf(step, at)}</span><span className="quiet">{String(step.type ?? "")}</span>
              {faultsAt(check, `steps[${at}]`).length > 0 && <IconAlertTriangle size={14} role="img" aria-label={text.agents.faulty} />}
            </button>
          </li>
        ))}
        <li>
          <button type="button" aria-current={chosen === "output" || undefined} onClick={press("output")}>
            <span className="number" /><span className="name">{text.agents.output}</span>
            {faultsAt(check, "output").length > 0 && <IconAlertTriangle size={14} role="img" aria-label={text.agents.faulty} />}
          </button>
        </li>
      </ol>
      {change && typeof chosen === "number" && steps[chosen] && <Deeds steps={steps} at={chosen} choose={choose} change={change} />}
    </Stack>
  );
}

function Add({ steps, chosen, choose, change }: { steps: readonly JsonObject[]; chosen: Chosen; choose: (at: Chosen) => void; change: Change }) {
  const { text } = useText();
  return (
    <Menu withinPortal={false} withInitialFocusPlaceholder={false}>
      <Menu.Target><Button size="compact-sm" variant="default" leftSection={<IconPlus size={14} aria-hidden />}>{text.agents.addStep}</Button></Menu.Target>
      <Menu.Dropdown>
        {types.map((type) => (
          <Menu.Item key={type} onClick={() => {
            const at = chosen === "output" ? steps.length : Math.min(chosen + 1, steps.length);
            change(({ steps, output }) => ({ steps: [...steps.slice(0, at), newStep(type, steps), ...steps.slice(at)], output }));
            choose(at);
          }}>
            {text.agents.types[type]}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

/** What is done with the chosen step. */
function Deeds({ steps, at, choose, change }: { steps: readonly JsonObject[]; at: number; choose: (at: Chosen) => void; change: Change }) {
  const { text } = useText();
  const { offer } = useNotices();
  const name = nameOf(steps[at]!, at);
  const go = (to: number) => {
    change(({ steps, output }) => ({ steps: moved(steps, at, to), output }));
    choose(to);
  };
  return (
    <Group gap="xs" role="group" aria-label={text.agents.doWith(name)}>
      <ActionIcon variant="default" aria-label={text.agents.earlier(name)} disabled={at === 0} onClick={() => go(at - 1)}><IconArrowUp size={16} aria-hidden /></ActionIcon>
      <ActionIcon variant="default" aria-label={text.agents.later(name)} disabled={at === steps.length - 1} onClick={() => go(at + 1)}><IconArrowDown size={16} aria-hidden /></ActionIcon>
      <ActionIcon variant="default" aria-label={text.agents.double(name)} onClick={() => {
        change(({ steps, output }) => ({ steps: [...steps.slice(0, at + 1), { ...steps[at]!, id: freeId(`${name}_copy`, steps) }, ...steps.slice(at + 1)], output }));
        choose(at + 1);
      }}><IconCopy size={16} aria-hidden /></ActionIcon>
      <ActionIcon variant="default" aria-label={text.agents.remove(name)} onClick={() => {
        const gone = steps[at]!;
        change(({ steps, output }) => ({ steps: steps.filter((_, index) => index !== at), output }));
        choose(Math.max(0, at - 1));
        offer(text.agents.removed(name), async () => {
          change(({ steps, output }) => ({ steps: [...steps.slice(0, at), gone, ...steps.slice(at)], output }));
          choose(at);
        });
      }}><IconTrash size={16} aria-hidden /></ActionIcon>
    </Group>
  );
}
