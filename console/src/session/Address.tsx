import { Alert, Button, Stack, TextInput, Title } from "@mantine/core";
import { useState } from "react";
import { useChange } from "../graph/hooks";
import { useText } from "../text";
import { MailsKept } from "../ui/MailsKept";
import { Problem } from "../ui/Problem";
import { useSubmit } from "../ui/useSubmit";
import { CurrentPassword } from "./CurrentPassword";
import { RequestEmailChange } from "./session.gql";

const empty = { email: "", password: "" };

/** Begins a change of the person's address, which both addresses have to confirm. */
export function Address() {
  const { text } = useText();
  const [form, setForm] = useState(empty);
  const [sent, setSent] = useState<string>();
  const request = useChange(RequestEmailChange);
  const submit = useSubmit(async () => {
    await request({ input: form });
    setSent(form.email);
    setForm(empty);
  });
  return (
    <Stack gap="xs" component="section" aria-label={text.session.changeEmail}>
      <Title order={2} size="h4">{text.session.changeEmail}</Title>
      <Problem error={submit.rest("email", "password")} />
      {sent && <Alert role="status">{text.session.emailSent(sent)}<MailsKept /></Alert>}
      <form onSubmit={submit.onSubmit}>
        <Stack maw="24rem">
          <TextInput
            label={text.session.newEmail} type="email" autoComplete="email" required withAsterisk={false} error={submit.fault("email")}
            value={form.email} onChange={(event) => setForm({ ...form, email: event.currentTarget.value })}
          />
          <CurrentPassword of={submit} value={form.password} set={(password) => setForm({ ...form, password })} />
          <Button type="submit" w="fit-content" loading={submit.busy}>{text.session.changeEmail}</Button>
        </Stack>
      </form>
    </Stack>
  );
}
