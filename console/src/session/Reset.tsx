import { Alert, Anchor, Button, Stack, TextInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useText } from "../text";
import { MailsKept } from "../ui/MailsKept";
import { Problem } from "../ui/Problem";
import { useSubmit } from "../ui/useSubmit";
import { post } from "./ask";
import { Outside } from "./Outside";
import { useTyped } from "./typed";

/** Asks for a link to set a new password. Whether there is such an account nobody is told. */
export function Reset() {
  const { text } = useText();
  const [email, setEmail] = useState(useTyped());
  const [sent, setSent] = useState(false);
  const submit = useSubmit(async () => {
    await post("/auth/reset", { email });
    setSent(true);
  });
  return (
    <Outside title={text.session.resetTitle} hint={sent ? undefined : text.session.resetHint}>
      <Problem error={submit.rest("email")} />
      {sent ? <Alert role="status">{text.session.resetSent(email)}<MailsKept /></Alert> : (
        <form onSubmit={submit.onSubmit}>
          <Stack>
            <TextInput
              label={text.session.email} type="email" autoComplete="username" required withAsterisk={false} autoFocus error={submit.fault("email")}
              value={email} onChange={(event) => setEmail(event.currentTarget.value)}
            />
            <Button type="submit" loading={submit.busy}>{text.session.resetSend}</Button>
          </Stack>
        </form>
      )}
      <Anchor component={Link} to="/sign-in" state={{ email }} size="sm">{text.session.back}</Anchor>
    </Outside>
  );
}
