import { Select } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useState } from "react";
import { useAsk } from "../graph/hooks";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { Problem } from "../ui/Problem";
import { Actors, Actor } from "./keys.gql";

/** Finds the person of the caller's company that a key is to act as; without a choice, the caller. */
export function ActsAs({ userId, choose, error }: { userId: number | undefined; choose: (userId: number | undefined) => void; error: string | undefined }) {
  const { text } = useText();
  const me = useMe();
  const [words, setWords] = useState("");
  const [search] = useDebouncedValue(words.trim(), 200);
  const found = useAsk(Actors, { customerId: me.customer.id, search: search || null });
  const chosen = useAsk(Actor, { id: String(userId) }, { pause: userId === undefined });
  const people = new Map([[me.user.databaseId, text.keys.asMyself]]);
  for (const one of [...(found.data?.users.nodes ?? []), ...(chosen.data?.user ? [chosen.data.user] : [])]) {
    if (!people.has(one.databaseId)) people.set(one.databaseId, one.name ? `${one.name} · ${one.email}` : one.email);
  }
  const fit = new Set(found.data?.users.nodes.map(({ databaseId }) => String(databaseId)));
  return (
    <>
      <Select
        label={text.keys.actsAs} description={text.keys.actsAsHint} error={error} value={String(userId ?? me.user.databaseId)} data={[...people].map(([id, label]) => ({ value: String(id), label }))}
        comboboxProps={{ withinPortal: false }} searchable allowDeselect={false} nothingFoundMessage={text.ui.noMatch} maxDropdownHeight={260} filter={({ options }) => (search === "" ? options : options.filter((one) => "value" in one && fit.has(one.value)))}
        onSearchChange={(next) => setWords([...people.values()].includes(next) ? "" : next)}
        onChange={(id) => choose(id === null || Number(id) === me.user.databaseId ? undefined : Number(id))}
      />
      <Problem error={found.error ?? chosen.error} again={found.error ? found.again : chosen.again} />
    </>
  );
}
