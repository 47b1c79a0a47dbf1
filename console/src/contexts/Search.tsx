import { Button, Group, NativeSelect, TextInput } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { useText } from "../text";
import { closeKeyboard } from "../ui/keyboard";
import { Begin } from "./Begin";
import { ContextHead, useContextOf, type Whole } from "./Context";
import { Hits } from "./Hits";
import { modes, type PromptSearch } from "./address";

/** Finds pieces of a context's documents. What is asked stands in the address. */
export function Search() {
  const { text } = useText();
  const { contextId } = useParams({ from: "/inside/contexts/$contextId/search" });
  const { context } = useContextOf(contextId);
  const search = useSearch({ from: "/inside/contexts/$contextId/search" });
  if (!context) return null;
  return (
    <>
      <ContextHead context={context} />
      <Box context={context} search={search} />
      {search.prompt ? <Hits context={context} search={search} prompt={search.prompt} /> : <Begin context={context} hint={text.contexts.searchHint} to="/contexts/$contextId/search" />}
    </>
  );
}

function Box({ context, search }: { context: Whole; search: PromptSearch }) {
  const { text } = useText();
  const navigate = useNavigate();
  const given = {
    prompt: search.prompt ?? "", topN: String(search.topN ?? context.topN), threshold: String(search.threshold ?? context.scoreThreshold), mode: search.mode ?? context.searchMode,
  };
  const [form, setForm] = useState(given);
  // The fields follow the address, and keep the focus: who has searched may want to put it otherwise.
  const at = JSON.stringify(search);
  const [shown, setShown] = useState(at);
  if (shown !== at) {
    setShown(at);
    setForm(given);
  }
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    closeKeyboard();
    const { prompt, topN, threshold, mode } = form;
    const { submitter } = event.nativeEvent as SubmitEvent;
    if (submitter?.getAttribute("name") === "ask") {
      void navigate({ to: "/contexts/$contextId/ask", params: { contextId: String(context.databaseId) }, search: { prompt: prompt.trim() || undefined } });
      return;
    }
    void navigate({
      to: "/contexts/$contextId/search",
      params: { contextId: String(context.databaseId) },
      // What is the context's own is left out, and stays its own when that changes.
      search: {
        prompt: prompt.trim() || undefined,
        topN: Number(topN) === context.topN ? undefined : Number(topN),
        threshold: Number(threshold) === context.scoreThreshold ? undefined : Number(threshold),
        mode: modes.find((one) => one === mode && one !== context.searchMode),
      },
    });
  };
  return (
    <form role="search" onSubmit={onSubmit}>
      <Group gap="xs" align="end">
        <TextInput
          flex="1 1 18rem" label={text.contexts.prompt} leftSection={<IconSearch size={16} aria-hidden />} required withAsterisk={false} autoFocus={!search.prompt}
          value={form.prompt} onChange={(event) => setForm({ ...form, prompt: event.currentTarget.value })}
        />
        <TextInput
          w="6rem" type="number" min={1} max={100} required withAsterisk={false} label={text.contexts.topN}
          value={form.topN} onChange={(event) => setForm({ ...form, topN: event.currentTarget.value })}
        />
        <TextInput
          w="8rem" type="number" min={0} max={1} step="any" required withAsterisk={false} label={text.contexts.threshold}
          value={form.threshold} onChange={(event) => setForm({ ...form, threshold: event.currentTarget.value })}
        />
        <NativeSelect
          label={text.contexts.mode} value={form.mode} data={modes.map((value) => ({ value, label: text.contexts.modes[value] }))}
          onChange={({ currentTarget: { value } }) => setForm({ ...form, mode: modes.find((mode) => mode === value) ?? context.searchMode })}
        />
        <Button type="submit">{text.contexts.searchButton}</Button>
        <Button type="submit" name="ask" variant="default" title={text.contexts.askInstead}>{text.contexts.askButton}</Button>
      </Group>
    </form>
  );
}
