import { Alert, Anchor, Button, Stack, TextInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useText } from "../text";
import { Problem } from "../ui/Problem";
import { useSubmit } from "../ui/useSubmit";
import { post } from "./ask";
import { Outside } from "./Outside";

/** Asks for a link to set a new password. Whether there is such an account nobody is told. */
export function Reset() {
  const { text } = useText();
  const [email, setEmail] = useState("");
  const [sent, setSent] = useState(false);
  const submit = useSubmit(async () => {
    await post("/auth/reset", { email });
    setSent(true);
  });
  return (
    <Outside title={text.session.resetTitle} hint={sent ? undefined : text.session.resetHint}>
      <Problem error={submit.rest("email")} />
      {sent ? <Alert role="status">{text.session.resetSent(email)}</Alert> : (
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
      <Anchor component={Link} to="/sign-in" size="sm">{text.session.back}</Anchor>
    </Outside>
  );
}
