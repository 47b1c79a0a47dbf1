import { Alert, Anchor, Button, Checkbox, PasswordInput, Stack, TextInput } from "@mantine/core";
import { Link, useNavigate } from "@tanstack/react-router";
import { CanopyError } from "canopy-client";
import { useEffect, useState } from "react";
import { useText } from "../text";
import { Problem } from "../ui/Problem";
import { useSubmit } from "../ui/useSubmit";
import { Waiting } from "../ui/Waiting";
import { ask, post } from "./ask";
import { Outside } from "./Outside";
import { session } from "./session";

const shortest = 10; // characters

interface Given {
  token: string;
  reset: boolean;
}

/** What the platform says of a link: whose password it sets, and which company has invited. */
interface Known {
  email: string;
  customerId: number | null;
  customerName: string | null;
}

/**
 * Redeems the link of an invitation or of a reset, and signs in. Its token is in the fragment, which never leaves the browser, or in the
 * query; the address bar forgets it at once.
 */
export function SetPassword() {
  const { text } = useText();
  const [link] = useState(takeLink);
  const { known, error, again } = useLink(link.token);
  const [done, setDone] = useState<{ why: CanopyError }>();
  const [bad, setBad] = useState(false);
  if (bad || link.token === "" || error?.code === "BAD_REQUEST") {
    return (
      <Outside title={text.session.setTitle}>
        <Alert color="red" role="alert">{text.session.linkBad}</Alert>
        <Anchor component={Link} to="/reset">{text.session.linkNew}</Anchor>
      </Outside>
    );
  }
  if (!known) return <Outside title={text.session.setTitle}>{error ? <Problem error={error} again={again} /> : <Waiting />}</Outside>;
  if (done) {
    return (
      <Outside title={text.session.setDone} hint={text.session.setDoneHint}>
        {!done.why.reason?.endsWith("_required") && <Problem error={done.why} />}
        <Button component={Link} to="/sign-in" state={{ email: known.email }}>{text.session.signIn}</Button>
      </Outside>
    );
  }
  return <Form link={link} known={known} turnBad={() => setBad(true)} turnDone={(why) => setDone({ why })} />;
}

/** What a link is for, as long as it can be used. */
function useLink(token: string): { known: Known | undefined; error: CanopyError | undefined; again: () => void } {
  const [known, setKnown] = useState<Known>();
  const [error, setError] = useState<CanopyError>();
  const [tries, setTries] = useState(0);
  useEffect(() => {
    if (token === "") return;
    setError(undefined);
    ask<Known>("/auth/setup/link", { token }).then(setKnown, (why: unknown) => {
      if (!(why instanceof CanopyError)) throw why;
      setError(why);
    });
  }, [token, tries]);
  return { known, error, again: () => setTries(tries + 1) };
}

interface FormProps {
  link: Given;
  known: Known;
  /** The link has come to its end meanwhile. */
  turnBad: () => void;
  /** The password is set, and this is why it does not sign in by itself, such as a second factor. */
  turnDone: (why: CanopyError) => void;
}

function Form({ link, known: { email, customerId, customerName }, turnBad, turnDone }: FormProps) {
  const { text } = useText();
  const navigate = useNavigate();
  const [password, setPassword] = useState("");
  const [again, setAgain] = useState("");
  const [keepKeys, setKeepKeys] = useState(false);
  // One button shows both. By keyboard it comes behind them: the password is typed again at once.
  const [visible, setVisible] = useState(false);
  const submit = useSubmit(async () => {
    if ([...password].length < shortest) throw wrong("password", text.session.passwordShort);
    if (password !== again) throw wrong("again", text.session.passwordsDiffer);
    await post("/auth/setup", { token: link.token, password, ...(link.reset && keepKeys ? { revokeKeys: false } : {}) });
    try {
      await session.signIn({ email, password, ...(customerId !== null && { customerId }) });
    } catch (why) {
      if (!(why instanceof CanopyError)) throw why;
      return turnDone(why);
    }
    await navigate({ to: "/", replace: true });
  });
  useEffect(() => void (submit.fault("token") && turnBad()), [submit.error]);
  return (
    <Outside title={text.session.setTitle} hint={customerName === null ? text.session.resetSetHint : text.session.setHint(customerName)}>
      <Problem error={submit.rest("password", "again")} />
      <form onSubmit={submit.onSubmit} noValidate>
        <Stack>
          <TextInput label={text.session.email} autoComplete="username" readOnly value={email} />
          <PasswordInput
            label={text.session.newPassword} description={text.session.passwordHint} autoComplete="new-password" required withAsterisk={false} autoFocus
            visible={visible} onVisibilityChange={setVisible} visibilityToggleButtonProps={{ "aria-label": text.session.show }}
            error={submit.fault("password")} aria-invalid={submit.fault("password") !== undefined}
            value={password} onChange={(event) => setPassword(event.currentTarget.value)}
          />
          <PasswordInput
            label={text.session.passwordAgain} autoComplete="new-password" required withAsterisk={false}
            visible={visible} onVisibilityChange={setVisible} visibilityToggleButtonProps={{ "aria-label": text.session.show, tabIndex: 0 }}
            error={submit.fault("again")} aria-invalid={submit.fault("again") !== undefined}
            value={again} onChange={(event) => setAgain(event.currentTarget.value)}
          />
          {link.reset && <Checkbox label={text.session.keepKeys} checked={keepKeys} onChange={(event) => setKeepKeys(event.currentTarget.checked)} />}
          <Button type="submit" loading={submit.busy}>{text.session.setTitle}</Button>
        </Stack>
      </form>
    </Outside>
  );
}

/** What is wrong with a field before anything is sent. */
function wrong(location: string, message: string): CanopyError {
  return new CanopyError("BAD_REQUEST", message, { faults: [{ location, message }] });
}

function takeLink(): Given {
  for (const part of [location.hash, location.search]) {
    const given = new URLSearchParams(part.slice(1));
    const token = given.get("token");
    if (!token) continue;
    history.replaceState(history.state, "", location.pathname);
    return { token, reset: given.has("reset") };
  }
  return { token: "", reset: false };
}
