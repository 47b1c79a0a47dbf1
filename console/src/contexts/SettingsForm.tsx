import { Button, Fieldset, NativeSelect, Stack, Switch, Textarea, TextInput } from "@mantine/core";
import "@mantine/core/styles/Fieldset.css";
import "@mantine/core/styles/Switch.css";
import { type ChangeEvent, type FormEvent, useState } from "react";
import { useAsk, useChange } from "../graph/hooks";
import { useText } from "../text";
import { Confirm } from "../ui/Confirm";
import { Problem } from "../ui/Problem";
import { Overtaken, useEdit } from "../ui/useEdit";
import { useNotices } from "../ui/useNotices";
import { Kept, UpdateContext } from "./contexts.gql";
import type { Whole } from "./Context";
import { modes } from "./address";

/** As it stands in the fields. */
function formOf(context: Whole) {
  const { name, caption, description, starterPrompts, topN, scoreThreshold, searchMode, denseWeight, embeddingModel, chunkSize, overlap, toolsJson, logsQueries } = context;
  return {
    name, caption, description, starterPrompts: starterPrompts.join("\n"), embeddingModel, toolsJson, logsQueries: String(logsQueries),
    topN: String(topN), scoreThreshold: String(scoreThreshold), searchMode: String(searchMode), denseWeight: String(denseWeight), chunkSize: String(chunkSize), overlap: String(overlap),
  };
}

type Form = ReturnType<typeof formOf>;

/** What is sent: what was changed. */
function inputOf(form: Form, was: Form) {
  const changed = (name: keyof Form) => (form[name] === was[name] ? undefined : form[name]);
  const number = (name: keyof Form) => (form[name] === was[name] ? undefined : Number(form[name]));
  return {
    name: changed("name"), caption: changed("caption"), description: changed("description"), toolsJson: changed("toolsJson"), embeddingModel: changed("embeddingModel"),
    starterPrompts: form.starterPrompts === was.starterPrompts ? undefined : form.starterPrompts.split("\n").map((line) => line.trim()).filter(Boolean),
    topN: number("topN"), scoreThreshold: number("scoreThreshold"), searchMode: modes.find((mode) => mode === changed("searchMode")), denseWeight: number("denseWeight"), logsQueries: form.logsQueries === was.logsQueries ? undefined : form.logsQueries === "true", chunkSize: number("chunkSize"), overlap: number("overlap"),
  };
}

/** Whether what was asked of the context is forgotten by a change. */
function forgetsBy(was: Form, form: Form): boolean {
  return was.logsQueries === "true" && form.logsQueries === "false";
}

/** Changes a context's settings. */
export function SettingsForm({ context }: { context: Whole }) {
  const { text } = useText();
  const t = text.contexts;
  const update = useChange(UpdateContext);
  const { say, offer } = useNotices();
  const [asking, setAsking] = useState(false);
  const edit = useEdit({ now: formOf(context), version: context.version, save: async (form: Form, was, ifVersion) => {
    await update({ input: { id: context.id, ...inputOf(form, was), ifVersion: ifVersion! } });
    // What was asked is gone, whatever is taken back.
    const forgets = forgetsBy(was, form);
    const before = forgets ? { ...was, logsQueries: form.logsQueries } : was;
    const back = () => update({ input: { id: context.id, ...inputOf(before, form) } });
    if (!forgets) offer(text.ui.saved, back);
    else if (JSON.stringify(before) === JSON.stringify(form)) say(t.forgotten);
    else offer(t.forgottenAndSaved, back);
  } });
  const { form, was, set: setForm, submit } = edit;
  const forgets = forgetsBy(was, form);
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    if (forgets) setAsking(true);
    else submit.onSubmit(event);
  };
  const field = (name: keyof Form) => ({
    name, value: form[name], error: submit.fault(name), withAsterisk: false,
    onChange: ({ currentTarget: { value } }: ChangeEvent<HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement>) => setForm({ ...form, [name]: value }),
  });
  const numeric = (name: keyof Form, min: number, max: number) => ({ ...field(name), type: "number", required: true, min, max, step: max === 1 ? "any" : 1, styles: { input: { maxWidth: "12rem" } } });
  // The dialog stands beside the form: what is sent in it is not sent in this one.
  return (
    <>
      <form onSubmit={onSubmit}>
        <Stack>
          <Problem error={submit.rest(...Object.keys(was))} />
          <Overtaken of={edit} labels={{
            name: t.name, caption: t.caption, description: t.instructions, starterPrompts: t.starters, topN: t.topN, scoreThreshold: t.threshold, denseWeight: t.weight,
            chunkSize: t.chunkSize, overlap: t.overlap, embeddingModel: t.model, toolsJson: t.toolsJson,
          }} />
          <Fieldset legend={t.whatItIs}>
            <Stack>
              <TextInput label={t.name} description={t.nameHint} required {...field("name")} />
              <TextInput label={t.caption} description={t.captionHint} {...field("caption")} />
              <Textarea label={t.instructions} description={t.instructionsHint} rows={4} {...field("description")} />
              <Textarea label={t.starters} description={t.startersHint} rows={4} {...field("starterPrompts")} />
            </Stack>
          </Fieldset>
          <Fieldset legend={t.finding}>
            <Stack>
              <TextInput label={t.topN} description={t.topNHint} {...numeric("topN", 1, 100)} />
              <TextInput label={t.threshold} description={t.thresholdHint} {...numeric("scoreThreshold", 0, 1)} />
              <NativeSelect label={t.mode} description={t.modeHint} w="fit-content" data={modes.map((value) => ({ value, label: t.modes[value] }))} {...field("searchMode")} />
              <TextInput label={t.weight} description={t.weightHint} {...numeric("denseWeight", 0, 1)} />
            </Stack>
          </Fieldset>
          <Fieldset legend={t.readingDocuments}>
            <Stack>
              <TextInput label={t.chunkSize} description={t.chunkSizeHint} {...numeric("chunkSize", 16, 8192)} />
              <TextInput label={t.overlap} description={t.overlapHint} {...numeric("overlap", 0, 1)} />
              <TextInput label={t.model} description={t.modelHint} required spellCheck={false} {...field("embeddingModel")} />
            </Stack>
          </Fieldset>
          <Fieldset legend={t.questions}>
            <Switch
              label={t.logsQueries} description={t.logsQueriesHint} checked={form.logsQueries === "true"}
              onChange={({ currentTarget: { checked } }) => setForm({ ...form, logsQueries: String(checked) })}
            />
          </Fieldset>
          <Fieldset legend={t.tools}>
            <Textarea label={t.toolsJson} description={t.toolsHint} rows={4} styles={{ input: { fontFamily: "monospace" } }} spellCheck={false} {...field("toolsJson")} />
          </Fieldset>
          <Button type="submit" w="fit-content" loading={submit.busy} disabled={!edit.dirty}>{text.ui.save}</Button>
        </Stack>
      </form>
      {asking && <Forget context={context} close={() => setAsking(false)} work={async () => submit.onSubmit()} />}
    </>
  );
}

/** Says what is lost where a context no longer keeps what is asked of it. */
function Forget({ context: { id, name }, close, work }: { context: Whole; close: () => void; work: () => Promise<void> }) {
  const { text, format } = useText();
  const { data } = useAsk(Kept, { id });
  const kept = data?.context?.all.totalCount;
  return (
    <Confirm title={text.contexts.forgetTitle(name)} button={text.contexts.forgetButton} close={close} work={work}>
      {text.contexts.forgetHint(kept, format.number(kept ?? 0))}
    </Confirm>
  );
}
