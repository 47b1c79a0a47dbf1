import { Alert, Anchor, Button, PasswordInput, Stack, TextInput } from "@mantine/core";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { CanopyError } from "canopy-client";
import { useEffect, useState } from "react";
import { useText } from "../text";
import { Problem } from "../ui/Problem";
import { useSubmit } from "../ui/useSubmit";
import { Outside } from "./Outside";
import { arrived, leadToProvider, session } from "./session";

/** Signs a person in: at the company’s identity provider, or by the password, and by a second factor where the account has one. */
export function SignIn() {
  const { text } = useText();
  const { to, why, sso } = useSearch({ from: "/sign-in" });
  const navigate = useNavigate();
  const [who, setWho] = useState({ email: "", password: "" });
  const [otp, setOtp] = useState<string>();
  const second = otp !== undefined;
  // The address comes first: it may lead to a company's own sign-in. The password is asked for where it does not, and of who wants to use one.
  const [byPassword, setByPassword] = useState(false);
  const [notLed, setNotLed] = useState<string>();

  const submit = useSubmit(async () => {
    if (!byPassword) {
      const why = await leadToProvider(who.email, to);
      setNotLed(why === "sso_unknown" ? undefined : why);
      return setByPassword(why !== undefined);
    }
    try {
      await session.signIn({ ...who, otp: otp?.replace(/\s/g, "") });
    } catch (error) {
      if (!(error instanceof CanopyError) || error.reason !== "otp_required") throw error;
      return setOtp("");
    }
    await navigate({ href: to ?? "/", replace: true });
  });
  const wrong = submit.error?.code === "UNAUTHENTICATED";

  useEffect(() => {
    if (sso === "in") void arrived().then(async (is) => { if (is) await navigate({ href: to ?? "/", replace: true }); });
  }, [sso, to, navigate]);
  const turnedAway = notLed ?? (sso === "in" ? undefined : sso);
  const refused = turnedAway && (text.session.sso[turnedAway] ?? text.session.ssoFailed);

  return (
    <Outside title={text.session.signIn} hint={second ? text.session.codeNeeded : undefined}>
      {why === "ended" && !second && <Alert color="yellow" role="status">{text.session.ended}</Alert>}
      {why === "out" && !second && !submit.error && <Alert color="gray" role="status">{text.session.signedOut}</Alert>}
      {refused && !submit.error && <Alert color="red" role="alert">{refused}</Alert>}
      {wrong ? <Alert color="red" role="alert">{second ? text.session.wrongCode : text.session.wrong}</Alert> : <Problem error={submit.error} />}
      <form onSubmit={submit.onSubmit}>
        <Stack>
          {second ? (
            <TextInput
              key="otp" label={text.session.code} description={text.session.codeHint} autoComplete="one-time-code" required autoFocus
              value={otp} onChange={(event) => setOtp(event.currentTarget.value)}
            />
          ) : (
            <>
              <TextInput
                label={text.session.email} type="email" autoComplete="username" required autoFocus withAsterisk={false}
                value={who.email}
                onChange={(event) => {
                  setWho({ ...who, email: event.currentTarget.value });
                  setByPassword(false); // another address may lead elsewhere
                }}
              />
              {byPassword && <PasswordInput
                autoFocus label={text.session.password} autoComplete="current-password" required withAsterisk={false} visibilityToggleButtonProps={{ "aria-label": text.session.show, tabIndex: 0 }}
                value={who.password} onChange={(event) => setWho({ ...who, password: event.currentTarget.value })}
              />}
            </>
          )}
          <Button type="submit" loading={submit.busy} fullWidth>{second || byPassword ? text.session.signIn : text.session.goOn}</Button>
        </Stack>
      </form>
      {second
        ? <Anchor component="button" type="button" size="sm" onClick={() => setOtp(undefined)}>{text.session.back}</Anchor>
        : byPassword
          ? <Anchor component={Link} to="/reset" size="sm">{text.session.forgot}</Anchor>
          : <Anchor component="button" type="button" size="sm" onClick={() => setByPassword(true)}>{text.session.usePassword}</Anchor>}
    </Outside>
  );
}
