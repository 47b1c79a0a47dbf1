import { Alert, Button, Group, Stack, Table, Text } from "@mantine/core";
import "@mantine/core/styles/Table.css";
import { CanopyError } from "canopy-client";
import { useRef, useState } from "react";
import { useText } from "../text";
import { type Submit, useSubmit } from "./useSubmit";

export interface EditOptions<F> {
  /** As it stands in the fields by what the platform says now. */
  now: F;
  /** The version that this is; undefined where there is nothing yet that could be overtaken. */
  version: number | undefined;
  /** Saves what is typed in place of what was, where that still has the version. */
  save: (form: F, was: F, ifVersion: number | undefined) => Promise<unknown>;
}

export interface Edit<F> {
  form: F;
  set: (form: F) => void;
  /** What was begun from. */
  was: F;
  /** Something is typed that is not saved. */
  dirty: boolean;
  submit: Submit;
  /** For `Overtaken`. */
  overtaken: Overtaking<F> | undefined;
}

interface Overtaking<F> {
  was: F;
  theirs: F;
  mine: F;
  /** What they have saved is known by now. */
  known: boolean;
  takeTheirs: () => void;
  saveMine: () => void;
}

/** A form for what others may change meanwhile: who saves second is told, and chooses. */
export function useEdit<F extends object>({ now, version, save }: EditOptions<F>): Edit<F> {
  const [base, setBase] = useState({ values: now, version });
  const [form, set] = useState(now);
  // The version that was refused as it is not the newest any more.
  const [refused, setRefused] = useState<{ version: number | undefined }>();
  const over = useRef(false);
  const newer = version !== base.version;
  const dirty = !same(form, base.values);
  const take = () => {
    setBase({ values: now, version });
    set(now);
    setRefused(undefined);
  };
  // Nothing is lost by going on from what is there now: nothing was typed, or it is the same.
  if (newer && (!dirty || same(form, now))) take();
  // What they have changed is not in this form.
  else if (newer && !refused && same(now, base.values)) setBase({ values: now, version });
  const rebased = { ...now, ...Object.fromEntries(Object.entries(form).filter(([name, value]) => !same(value, base.values[name as keyof F]))) };
  const submit = useSubmit(async () => {
    const [values, was, ifVersion] = over.current ? [rebased, now, version] : [form, base.values, base.version];
    over.current = false;
    setRefused(undefined);
    try {
      await save(values, was, ifVersion);
    } catch (why) {
      if (why instanceof CanopyError && why.reason === "changed") setRefused({ version: ifVersion });
      throw why;
    }
    // What is saved is what is shown, as soon as it is told as the platform has it.
    set(values);
    setBase({ values, version: ifVersion });
  });
  const overtaken = refused ? {
    was: base.values, theirs: now, mine: form, known: version !== refused.version, takeTheirs: take, saveMine: () => {
      over.current = true;
      submit.onSubmit();
    },
  } : undefined;
  return { form, set, was: base.values, dirty, overtaken, submit: { ...submit, rest: (...fields) => (submit.error?.reason === "changed" ? undefined : submit.rest(...fields)) } };
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

export interface OvertakenProps<F> {
  of: Edit<F>;
  /** What the fields are called; of others the values are not shown. */
  labels: { readonly [name in keyof F]?: string };
}

/** Says that somebody else has saved something meanwhile, and what, and lets one choose. */
export function Overtaken<F extends object>({ of: { overtaken, submit }, labels }: OvertakenProps<F>) {
  const { text } = useText();
  if (!overtaken) return null;
  const { was, theirs, mine, known, takeTheirs, saveMine } = overtaken;
  const names = (Object.keys(labels) as (keyof F)[]).filter((name) => !same(theirs[name], was[name]));
  const shown = (value: unknown) => (typeof value === "boolean" ? (value ? text.ui.yes : text.ui.no) : Array.isArray(value) ? value.join(", ") : String(value ?? "")) || "–";
  return (
    <Alert color="yellow" role="alert" title={text.ui.overtaken}>
      <Stack gap="xs">
        <Text size="sm">{text.ui.overtakenHint}</Text>
        {known && names.length > 0 && (
          <Table fz="sm" layout="fixed" style={{ overflowWrap: "anywhere" }}>
            <Table.Thead><Table.Tr><Table.Td /><Table.Th>{text.ui.theirs}</Table.Th><Table.Th>{text.ui.mine}</Table.Th></Table.Tr></Table.Thead>
            <Table.Tbody>
              {names.map((name) => (
                <Table.Tr key={String(name)}>
                  <Table.Th scope="row" fw={400}>{labels[name]}</Table.Th>
                  <Table.Td>{shown(theirs[name])}</Table.Td>
                  <Table.Td>{same(mine[name], was[name]) ? text.ui.untouched : shown(mine[name])}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        )}
        <Group gap="xs">
          <Button size="xs" variant="default" disabled={!known} onClick={takeTheirs}>{text.ui.takeTheirs}</Button>
          <Button size="xs" variant="default" disabled={!known} loading={submit.busy} onClick={saveMine}>{text.ui.saveMine}</Button>
        </Group>
      </Stack>
    </Alert>
  );
}
