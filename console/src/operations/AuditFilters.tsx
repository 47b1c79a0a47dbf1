import { Button, Checkbox, Group, NativeSelect, Pill, Select, Stack, TextInput } from "@mantine/core";
import "@mantine/core/styles/Pill.css";
import { useDebouncedValue } from "@mantine/hooks";
import { useState } from "react";
import { useAsk } from "../graph/hooks";
import { Actors } from "../keys/keys.gql";
import { CompanyPill } from "../people/CompanyPill";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { local } from "../ui/since";
import { TimeFilter } from "../ui/TimeFilter";
import type { AuditSearch } from "./address";
import { Actor, type AuditActionsResult } from "./operations.gql";
import { actorKinds } from "./who";

type Action = AuditActionsResult["auditActions"][number];

const filter = { flex: "1 1 9rem", maw: "16rem" } as const;

interface AuditFiltersProps {
  actions: readonly Action[];
  search: AuditSearch;
  change: (to: AuditSearch) => void;
}

/** What of the log is shown: what was done, by whom, to what, where, when, and whether it failed. */
export function AuditFilters({ actions, search, change }: AuditFiltersProps) {
  const { text } = useText();
  const me = useMe();
  const [type = "", id = ""] = search.object?.split(":") ?? [];
  const nouns = [...new Set(actions.map(nounOf))];
  // Of one that was named by an address only, the filters are seen as well.
  const [more] = useState(search.object !== undefined || search.kind !== undefined || search.outcome !== undefined || search.since !== undefined || search.until !== undefined);
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <NativeSelect
          aria-label={text.operations.action} value={search.action ?? ""} {...filter}
          data={[{ value: "", label: text.operations.anyAction }, ...nouns.map((group) => ({ group, items: actions.filter((one) => nounOf(one) === group).map(({ action }) => action) }))]}
          onChange={({ currentTarget: { value } }) => change({ action: value || undefined })}
        />
        {me.can("user.read") && <Who actor={search.actor} choose={(actor) => change({ actor })} />}
        <TimeFilter value={search.time} change={(time) => change({ time, since: undefined, until: undefined })} {...filter} />
        {search.company === undefined && <Button variant="default" onClick={() => change({ company: me.customer.databaseId })}>{text.operations.only(me.customer.name)}</Button>}
        {search.company !== undefined && <CompanyPill id={search.company} back={text.people.anyCompany} remove={() => change({ company: undefined })} />}
        {!me.can("user.read") && search.actor !== undefined && <Only label={text.operations.byWhom(String(search.actor))} away={text.operations.anybody} remove={() => change({ actor: undefined })} />}
        {search.object !== undefined && <Only label={search.object.replace(":", " ")} away={text.operations.anyObject} remove={() => change({ object: undefined })} />}
      </Group>
      <details className="more" open={more}>
        <summary>{text.operations.moreFilters}</summary>
        <Group gap="xs" align="end">
          <NativeSelect
            label={text.operations.actorKind} value={search.kind ?? ""} {...filter}
            data={[{ value: "", label: text.operations.anyKind }, ...actorKinds.map((kind) => ({ value: kind, label: text.operations.kinds[kind] }))]}
            onChange={({ currentTarget: { value } }) => change({ kind: actorKinds.find((one) => one === value) })}
          />
          <NativeSelect
            label={text.operations.objectType} value={type} {...filter} data={[{ value: "", label: text.operations.anyObject }, ...typesOf(actions, type)]}
            onChange={({ currentTarget: { value } }) => change({ object: value || undefined })}
          />
          <TextInput
            label={text.operations.objectId} value={id} {...filter} inputMode="numeric" disabled={type === ""}
            onChange={({ currentTarget: { value } }) => /^\d{0,15}$/.test(value) && change({ object: value === "" ? type : `${type}:${value}` })}
          />
          <Moment label={text.operations.from} value={search.since} choose={(since) => change({ since, time: undefined })} />
          <Moment label={text.operations.until} value={search.until} choose={(until) => change({ until, time: undefined })} />
          <Checkbox
            label={text.operations.failedOnly} checked={search.outcome !== undefined} pb="xs"
            onChange={({ currentTarget: { checked } }) => change({ outcome: checked ? "failed" : undefined })}
          />
        </Group>
      </details>
    </Stack>
  );
}

/** What an action is of, such as `user`. */
function nounOf({ action }: Action): string {
  return action.slice(0, action.indexOf("."));
}

/** The actions that tell of what did not succeed. */
export function failures(actions: readonly Action[]): string[] {
  return actions.flatMap(({ action }) => (action.endsWith("Failed") ? [action] : []));
}

/** The types of objects, as the actions name them, and one that an address names. */
function typesOf(actions: readonly Action[], chosen: string): string[] {
  const types = actions.map(nounOf).map((noun) => noun.charAt(0).toUpperCase() + noun.slice(1));
  return [...new Set([...types, ...(chosen ? [chosen] : [])])].sort();
}

function Only({ label, away, remove }: { label: string; away: string; remove: () => void }) {
  return <Pill size="lg" withRemoveButton onRemove={remove} removeButtonProps={{ "aria-label": away, "aria-hidden": false, tabIndex: 0 }}>{label}</Pill>;
}

/** Finds a person within reach by name or address. */
function Who({ actor, choose }: { actor: number | undefined; choose: (actor: number | undefined) => void }) {
  const { text } = useText();
  const me = useMe();
  const [words, setWords] = useState("");
  const [search] = useDebouncedValue(words.trim(), 200);
  const found = useAsk(Actors, { customerId: me.customer.id, subtree: true, search: search || null });
  const chosen = useAsk(Actor, { id: String(actor) }, { pause: actor === undefined });
  const people = new Map<string, string>();
  if (actor !== undefined) people.set(String(actor), text.operations.byWhom(chosen.data?.user?.email ?? (chosen.waiting ? "…" : String(actor))));
  for (const { databaseId, name, email } of found.data?.users.nodes ?? []) if (databaseId !== actor) people.set(String(databaseId), name ? `${name} · ${email}` : email);
  const fit = new Set(found.data?.users.nodes.map(({ databaseId }) => String(databaseId)));
  return (
    <Select
      aria-label={text.operations.who} placeholder={text.operations.anybody} {...filter} value={actor === undefined ? null : String(actor)} data={[...people].map(([value, label]) => ({ value, label }))}
      searchable clearable clearButtonProps={{ "aria-label": text.operations.anybody, "aria-hidden": false, tabIndex: 0 }} nothingFoundMessage={text.ui.noMatch} maxDropdownHeight={260} comboboxProps={{ withinPortal: false }}
      filter={({ options }) => (search === "" ? options : options.filter((one) => "value" in one && fit.has(one.value)))}
      onSearchChange={(next) => setWords([...people.values()].includes(next) ? "" : next)} onChange={(id) => choose(id === null ? undefined : Number(id))}
    />
  );
}

function Moment({ label, value, choose }: { label: string; value: string | undefined; choose: (moment: string | undefined) => void }) {
  return (
    <TextInput
      type="datetime-local" label={label} {...filter} value={value ? local(new Date(value)) : ""}
      onChange={({ currentTarget: { value } }) => choose(value === "" ? undefined : new Date(value).toISOString())}
    />
  );
}
