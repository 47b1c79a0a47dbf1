import { Button, Checkbox, PasswordInput, Stack, Title } from "@mantine/core";
import { useState } from "react";
import { useChange } from "../graph/hooks";
import { useText } from "../text";
import { Problem } from "../ui/Problem";
import { useNotices } from "../ui/useNotices";
import { useSubmit } from "../ui/useSubmit";
import { ChangePassword } from "./session.gql";

const empty = { current: "", new: "", revokeKeys: true };

/** Changes the person's password. */
export function Password() {
  const { text } = useText();
  const [form, setForm] = useState(empty);
  const change = useChange(ChangePassword);
  const { say } = useNotices();
  const submit = useSubmit(async () => {
    await change({ input: form });
    setForm(empty);
    say(text.session.changed);
  });
  const show = { "aria-label": text.session.show, tabIndex: 0 };
  return (
    <Stack gap="xs" component="section" aria-label={text.session.changePassword}>
      <Title order={2} size="h4">{text.session.changePassword}</Title>
      <Problem error={submit.rest("current", "new")} />
      <form onSubmit={submit.onSubmit}>
        <Stack maw="24rem">
          <PasswordInput
            label={text.session.currentPassword} autoComplete="current-password" required withAsterisk={false} visibilityToggleButtonProps={show} error={submit.fault("current")}
            value={form.current} onChange={(event) => setForm({ ...form, current: event.currentTarget.value })}
          />
          <PasswordInput
            label={text.session.newPassword} description={text.session.passwordHint} autoComplete="new-password" required withAsterisk={false} visibilityToggleButtonProps={show} error={submit.fault("new")}
            value={form.new} onChange={(event) => setForm({ ...form, new: event.currentTarget.value })}
          />
          <Checkbox label={text.session.endKeys} checked={form.revokeKeys} onChange={(event) => setForm({ ...form, revokeKeys: event.currentTarget.checked })} />
          <Button type="submit" w="fit-content" loading={submit.busy}>{text.session.changePassword}</Button>
        </Stack>
      </form>
    </Stack>
  );
}
