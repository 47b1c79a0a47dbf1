import { Button, Group, Stack, TextInput, Title } from "@mantine/core";
import { useChange } from "../graph/hooks";
import { useText } from "../text";
import { Problem } from "../ui/Problem";
import { Overtaken, useEdit } from "../ui/useEdit";
import { useNotices } from "../ui/useNotices";
import { useMe } from "./rights";
import { UpdateOwnName } from "./session.gql";

/** The person's own name, as all of their companies see it. */
export function Name() {
  const { user: { id, version, firstName, lastName } } = useMe();
  const { text } = useText();
  const { offer } = useNotices();
  const update = useChange(UpdateOwnName);
  const edit = useEdit({
    now: { firstName, lastName }, version,
    save: async (form, was, ifVersion) => {
      const { updateUser } = await update({ input: { id, ...form, ifVersion: ifVersion! } });
      offer(text.ui.saved, () => update({ input: { id, ...was, ifVersion: updateUser!.user.version } }));
    },
  });
  const { form, set: setForm, submit } = edit;
  const field = (name: "firstName" | "lastName", autoComplete: string) => ({
    label: text.session[name], autoComplete, error: submit.fault(name), value: form[name],
    onChange: ({ currentTarget: { value } }: { currentTarget: HTMLInputElement }) => setForm({ ...form, [name]: value }),
  });
  return (
    <Stack gap="xs" component="section" aria-label={text.session.name}>
      <Title order={2} size="h4">{text.session.name}</Title>
      <Problem error={submit.rest("firstName", "lastName")} />
      <Overtaken of={edit} labels={{ firstName: text.session.firstName, lastName: text.session.lastName }} />
      <form onSubmit={submit.onSubmit}>
        <Stack>
          <Group grow align="start">
            <TextInput {...field("firstName", "given-name")} />
            <TextInput {...field("lastName", "family-name")} />
          </Group>
          <Button type="submit" w="fit-content" loading={submit.busy} disabled={!edit.dirty}>{text.session.changeName}</Button>
        </Stack>
      </form>
    </Stack>
  );
}
