import { Alert, Anchor, Button, PasswordInput, Stack, TextInput } from "@mantine/core";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { CanopyError, knowsPasskeys } from "canopy-client";
import { useEffect, useState } from "react";
import { useText } from "../text";
import { Problem } from "../ui/Problem";
import { useSubmit } from "../ui/useSubmit";
import { Outside } from "./Outside";
import { byBrowser } from "./passkey";
import { arrived, session, wayIn } from "./session";
import { useTyped } from "./typed";

// The second factor that the platform asks for.
const seconds: Record<string, "code" | "passkey"> = { otp_required: "code", passkey_required: "passkey" };

/** Signs a person in: by a passkey, at the company’s identity provider, or by the password, and by a second factor where the account has one. */
export function SignIn() {
  const { text } = useText();
  const { to, why, sso } = useSearch({ from: "/sign-in" });
  const navigate = useNavigate();
  const [who, setWho] = useState({ email: useTyped(), password: "" });
  const [otp, setOtp] = useState("");
  const [second, setSecond] = useState<"code" | "passkey">();
  // Whether the account has any, as far as it was told.
  const [passkeys, setPasskeys] = useState(false);
  // The address comes first: it may lead to a company's own sign-in. The password is asked for where it does not, and of who wants to use one.
  const [byPassword, setByPassword] = useState(false);
  const [notLed, setNotLed] = useState<string>();

  const submit = useSubmit(async () => {
    if (!byPassword) {
      const { way, why } = await wayIn(who.email, to);
      setNotLed(why);
      return setByPassword(way === "password");
    }
    try {
      await session.signIn({
        ...who, ...(second === "code" && { otp: otp.replace(/\s/g, "") }), ...(second === "passkey" && { passkey: await byBrowser(() => session.passkey(), text) }),
      });
    } catch (error) {
      if (error instanceof CanopyError && error.reason === "sso_required") setByPassword(false); // the address alone leads there
      const next = error instanceof CanopyError && seconds[error.reason ?? ""];
      if (!next) throw error;
      setPasskeys(next === "passkey" || error.faults.some(({ location }) => location.endsWith("passkey")));
      return setSecond(next);
    }
    await navigate({ href: to ?? "/", replace: true });
  });
  const byPasskey = useSubmit(async () => {
    await byBrowser(() => session.signInByPasskey(), text);
    await navigate({ href: to ?? "/", replace: true });
  });
  const error = submit.error ?? byPasskey.error;
  const wrong = error?.code === "UNAUTHENTICATED" && (error === byPasskey.error || second === "passkey" ? text.session.wrongPasskey : second ? text.session.wrongCode : text.session.wrong);

  useEffect(() => {
    if (sso === "in") void arrived().then(async (is) => { if (is) await navigate({ href: to ?? "/", replace: true }); });
  }, [sso, to, navigate]);
  const turnedAway = notLed ?? (sso === "in" ? undefined : sso);
  const told = error?.reason && text.session.sso[error.reason];
  const refused = turnedAway && (text.session.sso[turnedAway] ?? text.session.ssoFailed);

  return (
    <Outside title={text.session.signIn} hint={second && (second === "code" ? text.session.codeNeeded : text.session.passkeyNeeded)}>
      {why === "ended" && !second && <Alert color="yellow" role="status">{text.session.ended}</Alert>}
      {why === "customer_suspended" && !second && !error && <Alert color="yellow" role="status">{text.session.sso[why]}</Alert>}
      {why === "out" && !second && !error && <Alert color="gray" role="status">{text.session.signedOut}</Alert>}
      {refused && !error && <Alert color="red" role="alert">{refused}</Alert>}
      {wrong ? <Alert color="red" role="alert">{wrong}</Alert> : told ? <Alert color="red" role="alert">{told}</Alert> : <Problem error={error} />}
      <form onSubmit={submit.onSubmit}>
        <Stack>
          {second === "code" && (
            <TextInput
              key="otp" label={text.session.code} description={text.session.codeHint} autoComplete="one-time-code" required autoFocus
              value={otp} onChange={(event) => setOtp(event.currentTarget.value)}
            />
          )}
          {!second && (
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
          <Button key={second} type="submit" loading={submit.busy} fullWidth data-autofocus={second === "passkey"} autoFocus={second === "passkey"}>
            {second === "passkey" ? text.session.usePasskey : second || byPassword ? text.session.signIn : text.session.goOn}
          </Button>
          {!second && knowsPasskeys() && <Button variant="default" loading={byPasskey.busy} fullWidth onClick={() => byPasskey.onSubmit()}>{text.session.usePasskey}</Button>}
        </Stack>
      </form>
      {second && <Other second={second} passkeys={passkeys} set={setSecond} />}
      {!second && (byPassword
        ? <Anchor component={Link} to="/reset" state={{ email: who.email }} size="sm">{text.session.forgot}</Anchor>
        : <Anchor component="button" type="button" size="sm" onClick={() => setByPassword(true)}>{text.session.usePassword}</Anchor>)}
    </Outside>
  );
}

/** The other second factor, where there is one, and the way back. */
function Other({ second, passkeys, set }: { second: "code" | "passkey"; passkeys: boolean; set: (second: "code" | "passkey" | undefined) => void }) {
  const { text } = useText();
  return (
    <>
      {second === "passkey" && <Anchor component="button" type="button" size="sm" onClick={() => set("code")}>{text.session.useCode}</Anchor>}
      {second === "code" && passkeys && knowsPasskeys() && <Anchor component="button" type="button" size="sm" onClick={() => set("passkey")}>{text.session.usePasskey}</Anchor>}
      <Anchor component="button" type="button" size="sm" onClick={() => set(undefined)}>{text.session.back}</Anchor>
    </>
  );
}
