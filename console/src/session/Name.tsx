import { Button, Group, Stack, TextInput, Title } from "@mantine/core";
import { useState } from "react";
import { useChange } from "../graph/hooks";
import { useText } from "../text";
import { Problem } from "../ui/Problem";
import { useNotices } from "../ui/useNotices";
import { useSubmit } from "../ui/useSubmit";
import { useMe } from "./rights";
import { UpdateOwnName } from "./session.gql";

/** The person's own name, as all of their companies see it. */
export function Name() {
  const { user } = useMe();
  // What was saved elsewhere meanwhile is begun from.
  return <Form key={user.version} {...user} />;
}

function Form({ id, version, firstName, lastName }: { id: string; version: number; firstName: string; lastName: string }) {
  const { text } = useText();
  const { offer } = useNotices();
  const update = useChange(UpdateOwnName);
  const [form, setForm] = useState({ firstName, lastName });
  const submit = useSubmit(async () => {
    const { updateUser } = await update({ input: { id, ...form, ifVersion: version } });
    offer(text.ui.saved, () => update({ input: { id, firstName, lastName, ifVersion: updateUser!.user.version } }));
  });
  const field = (name: "firstName" | "lastName", autoComplete: string) => ({
    label: text.session[name], autoComplete, error: submit.fault(name), value: form[name],
    onChange: ({ currentTarget: { value } }: { currentTarget: HTMLInputElement }) => setForm({ ...form, [name]: value }),
  });
  return (
    <Stack gap="xs" component="section" aria-label={text.session.name}>
      <Title order={2} size="h4">{text.session.name}</Title>
      <Problem error={submit.rest("firstName", "lastName")} />
      <form onSubmit={submit.onSubmit}>
        <Stack>
          <Group grow align="start">
            <TextInput {...field("firstName", "given-name")} />
            <TextInput {...field("lastName", "family-name")} />
          </Group>
          <Button type="submit" w="fit-content" loading={submit.busy} disabled={form.firstName === firstName && form.lastName === lastName}>{text.session.changeName}</Button>
        </Stack>
      </form>
    </Stack>
  );
}
