import { Button, PasswordInput, Stack, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useChange } from "../graph/hooks";
import { useText } from "../text";
import { Foot } from "../ui/Foot";
import { Problem } from "../ui/Problem";
import { SidePanel } from "../ui/SidePanel";
import { useNotices } from "../ui/useNotices";
import { useSubmit } from "../ui/useSubmit";
import { CreateSecret as Ask } from "./agents.gql";

/** Keeps a value for the company's agents. */
export function CreateSecret() {
  const { text } = useText();
  const navigate = useNavigate();
  const create = useChange(Ask);
  const { say } = useNotices();
  const [form, setForm] = useState({ name: "", value: "" });
  const close = () => navigate({ to: "/agents/secrets" });
  const submit = useSubmit(async () => {
    await create({ input: form });
    say(text.agents.secretKept(form.name));
    await close();
  });
  return (
    <SidePanel title={text.agents.createSecret} close={close}>
      <form onSubmit={submit.onSubmit}>
        <Stack>
          <Problem error={submit.rest("name", "value")} />
          <TextInput
            label={text.agents.name} data-autofocus description={text.agents.secretNameHint} placeholder="CRM_TOKEN" required withAsterisk={false} spellCheck={false} autoComplete="off" error={submit.fault("name")}
            value={form.name} onChange={({ currentTarget: { value } }) => setForm({ ...form, name: value })}
          />
          <PasswordInput
            label={text.agents.secretValue} description={text.agents.secretValueHint} required withAsterisk={false} autoComplete="off" error={submit.fault("value")}
            value={form.value} onChange={({ currentTarget: { value } }) => setForm({ ...form, value })} visibilityToggleButtonProps={{ "aria-label": text.agents.showTyped }}
          />
          <Foot>
            <Button type="submit" loading={submit.busy}>{text.agents.keepSecret}</Button>
            <Button variant="default" onClick={close}>{text.ui.cancel}</Button>
          </Foot>
        </Stack>
      </form>
    </SidePanel>
  );
}
