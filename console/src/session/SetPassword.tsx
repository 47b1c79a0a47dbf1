import { Alert, Anchor, Button, Checkbox, PasswordInput, Stack } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useText } from "../text";
import { Problem } from "../ui/Problem";
import { useSubmit } from "../ui/useSubmit";
import { post } from "./ask";
import { Outside } from "./Outside";

const shortest = 10; // characters

/**
 * Redeems the link of an invitation or of a reset. Its token is in the fragment, which never leaves the browser, or in the query; the
 * address bar forgets it at once.
 */
export function SetPassword() {
  const { text } = useText();
  const [link] = useState(takeLink);
  const [password, setPassword] = useState("");
  const [again, setAgain] = useState("");
  const [keepKeys, setKeepKeys] = useState(false);
  const [tried, setTried] = useState(false);
  const [done, setDone] = useState(false);
  const short = [...password].length < shortest;
  const submit = useSubmit(async () => {
    setTried(true);
    if (short || password !== again) return;
    await post("/auth/setup", { token: link.token, password, ...(link.reset && keepKeys ? { revokeKeys: false } : {}) });
    setDone(true);
  });
  const bad = link.token === "" || submit.fault("token") !== undefined;

  if (done) {
    return (
      <Outside title={text.session.setDone} hint={text.session.setDoneHint}>
        <Button component={Link} to="/sign-in">{text.session.signIn}</Button>
      </Outside>
    );
  }
  if (bad) {
    return (
      <Outside title={text.session.setTitle}>
        <Alert color="red" role="alert">{text.session.linkBad}</Alert>
        <Anchor component={Link} to="/reset">{text.session.linkNew}</Anchor>
      </Outside>
    );
  }
  return (
    <Outside title={text.session.setTitle} hint={link.reset ? text.session.resetSetHint : text.session.setHint}>
      <Problem error={submit.rest("password")} />
      <form onSubmit={submit.onSubmit} noValidate>
        <Stack>
          <PasswordInput
            label={text.session.newPassword} description={text.session.passwordHint} autoComplete="new-password" required withAsterisk={false} autoFocus
            visibilityToggleButtonProps={{ "aria-label": text.session.show, tabIndex: 0 }}
            error={tried && short ? text.session.passwordShort : submit.fault("password")}
            value={password} onChange={(event) => setPassword(event.currentTarget.value)}
          />
          <PasswordInput
            label={text.session.passwordAgain} autoComplete="new-password" required withAsterisk={false} visibilityToggleButtonProps={{ "aria-label": text.session.show, tabIndex: 0 }}
            error={tried && !short && password !== again ? text.session.passwordsDiffer : undefined}
            value={again} onChange={(event) => setAgain(event.currentTarget.value)}
          />
          {link.reset && <Checkbox label={text.session.keepKeys} checked={keepKeys} onChange={(event) => setKeepKeys(event.currentTarget.checked)} />}
          <Button type="submit" loading={submit.busy}>{text.session.setTitle}</Button>
        </Stack>
      </form>
    </Outside>
  );
}

function takeLink(): { token: string; reset: boolean } {
  for (const part of [location.hash, location.search]) {
    const given = new URLSearchParams(part.slice(1));
    const token = given.get("token");
    if (!token) continue;
    history.replaceState(history.state, "", location.pathname);
    return { token, reset: given.has("reset") };
  }
  return { token: "", reset: false };
}
