import { Button, Stack, Textarea, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useChange } from "../graph/hooks";
import { useText } from "../text";
import { Foot } from "../ui/Foot";
import { Problem } from "../ui/Problem";
import { SidePanel } from "../ui/SidePanel";
import { useSubmit } from "../ui/useSubmit";
import { CreateContext } from "./contexts.gql";

/** Makes a context. */
export function Create() {
  const { text } = useText();
  const navigate = useNavigate();
  const [form, setForm] = useState({ name: "", caption: "", description: "" });
  const create = useChange(CreateContext);
  const close = () => navigate({ to: "/contexts", search: true });
  const submit = useSubmit(async () => {
    const { createContext } = await create({ input: { ...form, starterPrompts: [] } }); // what its documents answer is known once it has some
    await navigate({ to: "/contexts/$contextId", params: { contextId: String(createContext!.context.databaseId) } });
  });
  const field = (name: keyof typeof form) => ({
    value: form[name], error: submit.fault(name), withAsterisk: false,
    onChange: ({ currentTarget: { value } }: { currentTarget: HTMLInputElement | HTMLTextAreaElement }) => setForm({ ...form, [name]: value }),
  });
  return (
    <SidePanel title={text.contexts.create} close={close}>
      <form onSubmit={submit.onSubmit}>
        <Stack>
          <Problem error={submit.rest("name", "caption", "description")} />
          <TextInput label={text.contexts.name} data-autofocus description={text.contexts.nameHint} required {...field("name")} />
          <TextInput label={text.contexts.caption} description={text.contexts.captionHint} {...field("caption")} />
          <Textarea label={text.contexts.instructions} description={text.contexts.instructionsHint} rows={5} {...field("description")} />
          <Foot>
            <Button type="submit" loading={submit.busy}>{text.contexts.createButton}</Button>
            <Button variant="default" onClick={close}>{text.ui.cancel}</Button>
          </Foot>
        </Stack>
      </form>
    </SidePanel>
  );
}
