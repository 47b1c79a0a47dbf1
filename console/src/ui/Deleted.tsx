import { Button, Group, Skeleton, Stack, Text, TextInput } from "@mantine/core";
import type { CanopyError } from "canopy-client";
import { useState } from "react";
import { useText } from "../text";
import { Empty } from "./Empty";
import { Problem } from "./Problem";
import { useNotices } from "./useNotices";
import { useSubmit } from "./useSubmit";
import { When } from "./When";

export interface DeletedRow {
  id: string;
  name: string;
  /** Where it was, where that is not clear from the list. */
  place?: string;
  deletedAt?: string;
  restorableUntil: string;
}

export interface DeletedProps {
  /** What a screen reader calls the list. */
  label: string;
  rows: readonly DeletedRow[] | null | undefined;
  error: CanopyError | undefined;
  again: () => void;
  /** How long what was deleted stays, where that is not 30 days. */
  hint?: string;
  /** Brings a row back, under another name where one was asked for. */
  restore: (id: string, name?: string) => Promise<unknown>;
}

/** What was deleted and can be brought back, the last one first. */
export function Deleted({ label, rows, error, again, hint, restore }: DeletedProps) {
  const { text } = useText();
  if (!rows) return error ? <Problem error={error} again={again} /> : <Skeleton height={160} />;
  if (rows.length === 0) return <Empty title={text.ui.nothingDeleted} hint={hint ?? text.ui.nothingDeletedHint} />;
  return (
    <Stack component="ul" gap="md" p={0} m={0} aria-label={label} style={{ listStyle: "none" }}>
      {rows.map((row) => <li key={row.id}><Row row={row} restore={restore} /></li>)}
    </Stack>
  );
}

/** One that was deleted. Where its name was given again meanwhile, it asks for another one. */
function Row({ row: { id, name, place, deletedAt, restorableUntil }, restore }: { row: DeletedRow; restore: DeletedProps["restore"] }) {
  const { text } = useText();
  const { say } = useNotices();
  const [other, setOther] = useState<string>();
  const submit = useSubmit(async () => {
    await restore(id, other);
    say(text.ui.broughtBack(other ?? name));
  });
  const taken = submit.fault("name");
  return (
    <form onSubmit={submit.onSubmit}>
      <Stack gap="xs">
        <Group justify="space-between" wrap="nowrap" align="start">
          <div>
            <Text style={{ overflowWrap: "anywhere" }}>{name}</Text>
            {place && <Text size="sm" c="dimmed" style={{ overflowWrap: "anywhere" }}>{place}</Text>}
            <Text size="sm" c="dimmed">{text.ui.deletedAt}{deletedAt && <> <When at={deletedAt} /></>}, {text.ui.restorableUntil} <When at={restorableUntil} /></Text>
          </div>
          <Button type="submit" size="xs" variant="default" loading={submit.busy} aria-label={text.ui.bringBackOf(name)} style={{ flex: "none" }}>{text.ui.bringBack}</Button>
        </Group>
        <Problem error={submit.rest("name")} />
        {(taken || other !== undefined) && (
          <TextInput
            label={text.ui.otherName} spellCheck={false} autoComplete="off" error={taken} value={other ?? name}
            onChange={({ currentTarget: { value } }) => setOther(value)}
          />
        )}
      </Stack>
    </form>
  );
}

