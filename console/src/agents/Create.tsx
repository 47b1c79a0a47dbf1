import { Anchor, Button, NativeSelect, Radio, Stack, Text, TextInput } from "@mantine/core";
import "@mantine/core/styles/Radio.css";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useAsk, useChange } from "../graph/hooks";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { Foot } from "../ui/Foot";
import { Problem } from "../ui/Problem";
import { SidePanel } from "../ui/SidePanel";
import { useSubmit } from "../ui/useSubmit";
import { ContextNames, CreateAgent } from "./agents.gql";
import { beginnings } from "./beginnings";

const kinds = ["empty", "find", "answer", "call"] as const;

/** Makes an agent, from nothing or from an example that works. */
export function Create() {
  const { text } = useText();
  const me = useMe();
  const navigate = useNavigate();
  const create = useChange(CreateAgent);
  const [form, setForm] = useState<{ name: string; from: (typeof kinds)[number]; context: string }>({ name: "", from: "empty", context: "" });
  const searches = form.from === "find" || form.from === "answer";
  const { data, error } = useAsk(ContextNames, {}, { pause: !searches || !me.can("context.read") });
  const contexts = data?.contexts?.nodes ?? [];
  const close = () => navigate({ to: "/agents", search: true });
  const submit = useSubmit(async () => {
    const context = Number(form.context || contexts[0]?.databaseId || 0);
    // Without a context to name, the run says which.
    const { createAgent } = await create({ input: { name: form.name, diagram: beginnings[form.from](context || "{{ input.context }}") } });
    await navigate({ to: "/agents/$agentId", params: { agentId: String(createAgent!.agent.databaseId) } });
  });
  return (
    <SidePanel title={text.agents.create} close={close}>
      <form onSubmit={submit.onSubmit}>
        <Stack>
          <Problem error={submit.rest("name")} />
          <TextInput
            label={text.agents.name} required withAsterisk={false} error={submit.fault("name")} value={form.name} data-autofocus
            onChange={({ currentTarget: { value } }) => setForm({ ...form, name: value })}
          />
          <Radio.Group label={text.agents.from} value={form.from} onChange={(from) => setForm({ ...form, from: kinds.find((kind) => kind === from)! })}>
            <Stack gap="xs" mt={4}>
              {kinds.map((kind) => <Radio key={kind} value={kind} label={text.agents.beginnings[kind]} description={text.agents.beginningHints[kind]} />)}
            </Stack>
          </Radio.Group>
          {searches && <Problem error={error} />}
          {searches && data?.contexts && contexts.length === 0 && (
            <Text size="sm">{text.agents.noContext} {me.can("context.write") && <Anchor component={Link} to="/contexts/new" size="sm" td="underline">{text.contexts.create}</Anchor>}</Text>
          )}
          {searches && contexts.length > 0 && (
            <NativeSelect
              label={text.agents.fields.contextId} data={contexts.map(({ databaseId, name }) => ({ value: String(databaseId), label: name }))} value={form.context}
              onChange={({ currentTarget: { value } }) => setForm({ ...form, context: value })}
            />
          )}
          <Foot>
            <Button type="submit" loading={submit.busy}>{text.agents.createButton}</Button>
            <Button variant="default" onClick={close}>{text.ui.cancel}</Button>
          </Foot>
        </Stack>
      </form>
    </SidePanel>
  );
}
