import { ActionIcon, Button, Checkbox, Group, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { type ReactNode, useState } from "react";
import { useText } from "../text";
import { sentence } from "../ui/Problem";
import { type Check, faultsAt } from "./useCheck";
import { isObject, type Json, type JsonObject, parsed, written } from "./value";

/** What every field of a step has. */
export interface FieldProps {
  label: string;
  hint?: ReactNode;
  value: Json | undefined;
  /** Undefined takes the field out. Without it nothing can be changed. */
  set: ((value: Json | undefined) => void) | undefined;
  check: Check | undefined;
  /** Where the field stands in the diagram, as faults name it. */
  place: string;
}

const mono = { input: { fontFamily: "var(--mantine-font-family-monospace)", fontSize: "var(--mantine-font-size-sm)" } };

/** What the platform says of a field. */
export function faultOf(check: Check | undefined, place: string): string | undefined {
  const faults = faultsAt(check, place);
  return faults.length === 0 ? undefined : faults.map(({ within, message }) => sentence(within ? `${within}: ${message}` : message)).join(" ");
}

function shown(value: Json | undefined): string {
  return value === undefined || value === null ? "" : typeof value === "string" ? value : written(value);
}

/** A text, which may hold expressions. */
export function TextField({ label, hint, value, set, check, place, rows }: FieldProps & { rows?: number }) {
  const props = {
    label, description: hint, styles: mono, spellCheck: false, readOnly: !set, error: faultOf(check, place), value: shown(value),
    onChange: ({ currentTarget }: { currentTarget: HTMLInputElement | HTMLTextAreaElement }) => set?.(currentTarget.value === "" ? undefined : currentTarget.value),
  };
  return rows ? <Textarea rows={rows} {...props} /> : <TextInput {...props} />;
}

/** A number, true or false, or an expression that gives one. */
export function ValueField({ label, hint, value, set, check, place }: FieldProps) {
  return (
    <TextInput
      label={label} description={hint} styles={mono} spellCheck={false} readOnly={!set} error={faultOf(check, place)} value={shown(value)}
      onChange={({ currentTarget: { value: text } }) => set?.(text === "" ? undefined : simple(text))}
    />
  );
}

/** A number or a truth where a text says one that is written the same way, so that "1." can go on to be "1.5"; else the text. */
function simple(text: string): Json {
  const value = parsed(text);
  return (typeof value === "number" || typeof value === "boolean") && String(value) === text ? value : text;
}

/** Any JSON. */
export function JsonField({ label, hint, value, set, check, place, rows = 6 }: FieldProps & { rows?: number }) {
  const { text } = useText();
  const [typed, setTyped] = useState<string>();
  const wrong = typed !== undefined && typed.trim() !== "" && parsed(typed) === undefined;
  return (
    <Textarea
      label={label} description={hint} rows={rows} styles={mono} spellCheck={false} readOnly={!set} error={wrong ? text.agents.noJson : faultOf(check, place)}
      value={typed ?? (value === undefined ? "" : written(value))} onBlur={() => void (wrong || setTyped(undefined))}
      onChange={({ currentTarget: { value: next } }) => {
        setTyped(next);
        if (next.trim() === "") set?.(undefined);
        else if (parsed(next) !== undefined) set?.(parsed(next));
      }}
    />
  );
}

interface Pair {
  name: string;
  text: string;
  json: boolean;
}

function pairsOf(value: Json | undefined): Pair[] {
  return Object.entries(isObject(value) ? value : {}).map(([name, one]) => ({ name, text: shown(one), json: typeof one !== "string" }));
}

function objectOf(pairs: readonly Pair[]): JsonObject {
  return Object.fromEntries(pairs.flatMap(({ name, text, json }) => {
    const value = json ? parsed(text) : text;
    return value === undefined ? [] : [[name, value]];
  }));
}

/** Names with values, such as those that a step sets, or headers. */
export function PairsField({ label, hint, value, set, check, place, texts = false }: FieldProps & { texts?: boolean }) {
  const { text } = useText();
  const [pairs, setPairs] = useState(() => pairsOf(value));
  // What is written elsewhere, as JSON or by another's save, is taken over.
  const [seen, setSeen] = useState(written(value ?? null));
  if (written(value ?? null) !== seen) {
    setSeen(written(value ?? null));
    if (written(objectOf(pairs)) !== written(value ?? {})) setPairs(pairsOf(value));
  }
  const change = (next: Pair[]) => {
    setPairs(next);
    set?.(objectOf(next));
  };
  const at = (index: number, to: Partial<Pair>) => change(pairs.map((pair, place) => (place === index ? { ...pair, ...to } : pair)));
  const fault = faultsAt(check, place).filter(({ within }) => !pairs.some(({ name }) => within === name || within.startsWith(`${name}.`) || within.startsWith(`${name}[`)));
  return (
    <Stack gap="xs" role="group" aria-label={label}>
      <div><Text size="sm" fw={600}>{label}</Text>{hint && <Text size="xs" c="dimmed">{hint}</Text>}</div>
      {pairs.map(({ name, text: written, json }, index) => (
        <div className="pair" key={index}>
          <Group gap="xs" wrap="nowrap">
            <TextInput flex={1} size="xs" styles={mono} aria-label={text.agents.pairName(index + 1)} placeholder={text.agents.name} readOnly={!set} value={name} onChange={({ currentTarget }) => at(index, { name: currentTarget.value })} />
            {!texts && <Checkbox size="xs" label="JSON" aria-label={text.agents.pairJson(name)} disabled={!set} checked={json} onChange={({ currentTarget: { checked } }) => at(index, { json: checked })} />}
            {set && <ActionIcon variant="default" aria-label={text.agents.pairRemove(name)} onClick={() => change(pairs.filter((_, place) => place !== index))}><IconTrash size={14} aria-hidden /></ActionIcon>}
          </Group>
          <Textarea
            size="xs" rows={2} styles={mono} spellCheck={false} aria-label={text.agents.pairValue(name)} readOnly={!set} value={written}
            error={json && parsed(written) === undefined ? text.agents.noJson : faultOf(check, `${place}.${name}`)} onChange={({ currentTarget }) => at(index, { text: currentTarget.value })}
          />
        </div>
      ))}
      {fault.map(({ message }) => <Text key={message} size="xs" c="var(--mantine-color-error)">{sentence(message)}</Text>)}
      {set && <Button w="fit-content" size="compact-xs" variant="default" leftSection={<IconPlus size={12} aria-hidden />} onClick={() => setPairs([...pairs, { name: freeName(pairs), text: "", json: false }])}>{text.agents.addPair}</Button>}
    </Stack>
  );
}

function freeName(pairs: readonly Pair[]): string {
  for (let n = pairs.length + 1; ; n++) if (!pairs.some(({ name }) => name === `value${n}`)) return `value${n}`;
}
