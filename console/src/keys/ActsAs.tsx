import { Select } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useState } from "react";
import { useAsk } from "../graph/hooks";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { Problem } from "../ui/Problem";
import { Actors, Actor } from "./keys.gql";

interface ActsAsProps {
  userId: number | undefined;
  choose: (userId: number | undefined) => void;
  error: string | undefined;
  /** The company whose people these are; the caller's own without it. */
  customerId?: string | undefined;
  hint: string;
}

/** Finds the person that a key is to act as: in the caller's company, without a choice, the caller. */
export function ActsAs({ userId, choose, error, customerId, hint }: ActsAsProps) {
  const { text } = useText();
  const me = useMe();
  const own = customerId === undefined;
  const [words, setWords] = useState("");
  const [search] = useDebouncedValue(words.trim(), 200);
  const found = useAsk(Actors, { customerId: customerId ?? me.customer.id, search: search || null });
  const chosen = useAsk(Actor, { id: String(userId) }, { pause: userId === undefined });
  const people = new Map(own ? [[me.user.databaseId, text.keys.asMyself]] : []);
  for (const one of [...(found.data?.users.nodes ?? []), ...(chosen.data?.user ? [chosen.data.user] : [])]) {
    if (!people.has(one.databaseId)) people.set(one.databaseId, one.name ? `${one.name} · ${one.email}` : one.email);
  }
  const fit = new Set(found.data?.users.nodes.map(({ databaseId }) => String(databaseId)));
  return (
    <>
      <Select
        label={text.keys.actsAs} description={hint} error={error} value={userId === undefined ? (own ? String(me.user.databaseId) : null) : String(userId)} data={[...people].map(([id, label]) => ({ value: String(id), label }))}
        comboboxProps={{ withinPortal: false }} searchable allowDeselect={false} nothingFoundMessage={text.ui.noMatch} maxDropdownHeight={260} filter={({ options }) => (search === "" ? options : options.filter((one) => "value" in one && fit.has(one.value)))}
        onSearchChange={(next) => setWords([...people.values()].includes(next) ? "" : next)}
        onChange={(id) => choose(id === null || own && Number(id) === me.user.databaseId ? undefined : Number(id))}
      />
      <Problem error={found.error ?? chosen.error} again={found.error ? found.again : chosen.again} />
    </>
  );
}
