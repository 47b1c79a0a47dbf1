import { Anchor, Button, Checkbox, Fieldset, Radio, Skeleton, Stack, TextInput } from "@mantine/core";
import "@mantine/core/styles/Fieldset.css";
import "@mantine/core/styles/Radio.css";
import { useRef, useState } from "react";
import { useAsk } from "../graph/hooks";
import { useText } from "../text";
import { meaningOf } from "../text/meaning";
import { Foot } from "../ui/Foot";
import { Problem } from "../ui/Problem";
import { Overtaken, useEdit } from "../ui/useEdit";
import { useBase } from "./base";
import { OwnMachine } from "./OwnMachine";
import { Catalog } from "./webhooks.gql";

/** What a person says of a destination. Events are null for all. */
export interface DestinationFields {
  url: string;
  name: string;
  events: string[] | null;
  signing: "SPEC" | "STANDARD";
}

interface DestinationFormProps {
  of: DestinationFields;
  /** Of one that is there already. */
  version?: number;
  word: string;
  save: (fields: DestinationFields, was: DestinationFields, ifVersion: number | undefined) => Promise<void>;
  close: () => void;
}

/** The form of a destination, be it a new one or one that is changed. */
export function DestinationForm({ of, version, word, save, close }: DestinationFormProps) {
  const { text } = useText();
  const base = useBase();
  const [own, setOwn] = useState(false);
  const address = useRef<HTMLInputElement>(null);
  const edit = useEdit({ now: of, version, save });
  const { form, set: setForm, submit } = edit;
  const [chosen, setChosen] = useState<readonly string[]>(of.events ?? []);
  const choose = (types: readonly string[]) => {
    setChosen(types);
    setForm({ ...form, events: [...types] });
  };
  const none = form.events !== null && form.events.length === 0;
  return (
    <form onSubmit={submit.onSubmit}>
      <Stack>
        <Problem error={submit.rest("url", "name", "events", "signing")} />
        <Overtaken of={edit} labels={{ url: text.webhooks.url, name: text.webhooks.name, events: text.webhooks.events, signing: text.webhooks.signing }} />
        <TextInput
          ref={address} data-autofocus label={text.webhooks.url} description={text.webhooks.urlHint} placeholder="https://example.com/hooks" type="url" required withAsterisk={false} error={submit.fault("url")}
          value={form.url} onChange={({ currentTarget: { value } }) => setForm({ ...form, url: value })}
        />
        {own || submit.fault("url") || base === "/portal" ? (
            <OwnMachine why={submit.fault("url")} asked={own} take={(url) => {
              setForm({ ...form, url });
              address.current?.focus();
            }} />
          )
          : <Anchor component="button" type="button" size="sm" w="fit-content" onClick={() => {
            setOwn(true);
            address.current?.focus(); // its button goes
          }}>{text.webhooks.ownMachineAsked}</Anchor>}
        <TextInput
          label={text.webhooks.name} description={text.ui.optional} error={submit.fault("name")}
          value={form.name} onChange={({ currentTarget: { value } }) => setForm({ ...form, name: value })}
        />
        <Radio.Group
          label={text.webhooks.events} error={submit.fault("events") ?? (none ? text.webhooks.eventsNone : undefined)}
          value={form.events === null ? "all" : "some"} onChange={(value) => setForm({ ...form, events: value === "all" ? null : [...chosen] })}
        >
          <Stack gap="xs" mt={4}>
            <Radio value="all" label={text.webhooks.eventsAll} description={text.webhooks.eventsAllHint} />
            <Radio value="some" label={text.webhooks.eventsSome} />
          </Stack>
        </Radio.Group>
        {form.events !== null && <Choice chosen={form.events} choose={choose} />}
        <Radio.Group
          label={text.webhooks.signing} error={submit.fault("signing")} value={form.signing}
          onChange={(value) => setForm({ ...form, signing: value === "STANDARD" ? "STANDARD" : "SPEC" })}
        >
          <Stack gap="xs" mt={4}>
            <Radio value="SPEC" label={text.webhooks.signings.SPEC} description={text.webhooks.signingHints.SPEC} />
            <Radio value="STANDARD" label={text.webhooks.signings.STANDARD} description={text.webhooks.signingHints.STANDARD} />
          </Stack>
        </Radio.Group>
        <Foot>
          <Button type="submit" loading={submit.busy} disabled={none}>{word}</Button>
          <Button variant="default" onClick={close}>{text.ui.cancel}</Button>
        </Foot>
      </Stack>
    </form>
  );
}

/** The events of the catalogue, of which some are chosen. */
function Choice({ chosen, choose }: { chosen: readonly string[]; choose: (types: readonly string[]) => void }) {
  const { text } = useText();
  const [find, setFind] = useState("");
  const { data, error, again } = useAsk(Catalog, { extended: true });
  if (!data) return error ? <Problem error={error} again={again} /> : <Skeleton height={160} />;
  const words = find.trim().toLowerCase();
  // What is chosen and in no catalogue, such as audit.*, stays until it is taken out.
  const known = new Set(data.webhookCatalog.events.map(({ type }) => type));
  const others = chosen.filter((type) => !known.has(type)).map((type) => ({ type, category: type.split(".")[0]!, description: text.webhooks.eventPattern }));
  const shown = [...others, ...data.webhookCatalog.events].map((one) => ({ ...one, description: meaningOf(text, one) }))
    .filter(({ type, description }) => chosen.includes(type) || `${type} ${description}`.toLowerCase().includes(words));
  return (
    <Stack gap="xs">
      <TextInput aria-label={text.webhooks.eventsFind} placeholder={text.webhooks.eventsFind} type="search" value={find} onChange={(event) => setFind(event.currentTarget.value)} />
      {[...new Set(shown.map(({ category }) => category))].map((category) => (
        <Fieldset key={category} legend={category}>
          <Stack gap="xs">
            {shown.filter((one) => one.category === category).map(({ type, description }) => (
              <Checkbox
                key={type} label={type} description={description} checked={chosen.includes(type)}
                onChange={({ currentTarget: { checked } }) => choose(checked ? [...chosen, type] : chosen.filter((one) => one !== type))}
              />
            ))}
          </Stack>
        </Fieldset>
      ))}
    </Stack>
  );
}
