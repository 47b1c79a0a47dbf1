import { Anchor, Button, Center, Code, Group, Stack, Text, TextInput, Title } from "@mantine/core";
import { useState } from "react";
import { useChange } from "../graph/hooks";
import { useText } from "../text";
import { CopyText } from "../ui/CopyText";
import { Dialog } from "../ui/Dialog";
import { Problem } from "../ui/Problem";
import { QrCode } from "../ui/QrCode";
import { useSubmit } from "../ui/useSubmit";
import { CurrentPassword } from "./CurrentPassword";
import { RecoveryCodes } from "./RecoveryCodes";
import { useMe } from "./rights";
import { ConfirmTotp, DisableTotp, EnableTotp, RegenerateRecoveryCodes } from "./session.gql";

/** Turns the authenticator of codes on and off, and gives new recovery codes. */
export function TwoFactor() {
  const { text } = useText();
  const { user } = useMe();
  // What it was when it was opened: the last step of turning it on comes after it is on.
  const [open, setOpen] = useState<keyof typeof dialogs>();
  const close = () => setOpen(undefined);
  const Inside = open && dialogs[open];
  const on = user.otpMethod === "totp";
  const off = user.otpMethod === "passkey" ? text.session.twoFactorPasskey : text.session.twoFactorOff;
  return (
    <Stack gap="xs" component="section" aria-label={text.session.twoFactor}>
      <Title order={2} size="h4">{text.session.twoFactor}</Title>
      <Group justify="space-between">
        <Text size="sm">{on ? text.session.twoFactorOn : off}</Text>
        <Group gap="xs">
          {user.otpMethod !== "none" && <Button variant="default" onClick={() => setOpen("codes")}>{text.session.newCodes}</Button>}
          <Button variant="default" onClick={() => setOpen(on ? "off" : "on")}>{on ? text.session.turnOff : text.session.turnOn}</Button>
        </Group>
      </Group>
      {Inside && <Dialog title={open === "codes" ? text.session.newCodes : text.session.twoFactor} close={close}><Inside done={close} /></Dialog>}
    </Stack>
  );
}

/** First the password, then a secret for the authenticator, then its code, and then the recovery codes. */
function TurnOn({ done }: { done: () => void }) {
  const { text } = useText();
  const enable = useChange(EnableTotp);
  const confirm = useChange(ConfirmTotp);
  const [password, setPassword] = useState("");
  const [enrolment, setEnrolment] = useState<{ secret: string; uri: string }>();
  const [code, setCode] = useState("");
  const [recovery, setRecovery] = useState<string[]>();
  const ask = useSubmit(async () => {
    const { enableTotp } = await enable({ input: { password } });
    if (enableTotp) setEnrolment(enableTotp);
  });
  const check = useSubmit(async () => {
    const { confirmTotp } = await confirm({ input: { code: code.replace(/\s/g, "") } });
    setRecovery(confirmTotp?.recoveryCodes);
  });
  if (recovery) return <RecoveryCodes of={recovery} done={done} />;
  if (enrolment) {
    return (
      <form onSubmit={check.onSubmit}>
        <Stack>
          <Text size="sm">{text.session.enterSecret}</Text>
          <Center><QrCode of={enrolment.uri} label={text.session.qrCode} /></Center>
          <Group wrap="nowrap"><Code>{enrolment.secret}</Code><CopyText value={enrolment.secret} /></Group>
          <Anchor href={enrolment.uri} size="sm">{text.session.openAuthenticator}</Anchor>
          <TextInput
            label={text.session.code} autoComplete="one-time-code" inputMode="numeric" required withAsterisk={false} autoFocus error={check.fault("code")}
            value={code} onChange={(event) => setCode(event.currentTarget.value)}
          />
          <Problem error={check.rest("code")} />
          <Button type="submit" loading={check.busy}>{text.session.confirm}</Button>
        </Stack>
      </form>
    );
  }
  return (
    <form onSubmit={ask.onSubmit}>
      <Stack>
        <CurrentPassword of={ask} value={password} set={setPassword} focus />
        <Problem error={ask.rest("password")} />
        <Button type="submit" loading={ask.busy}>{text.session.turnOn}</Button>
      </Stack>
    </form>
  );
}

function TurnOff({ done }: { done: () => void }) {
  const { text } = useText();
  const disable = useChange(DisableTotp);
  const [form, setForm] = useState({ password: "", code: "" });
  const submit = useSubmit(async () => {
    await disable({ input: form });
    done();
  });
  return (
    <form onSubmit={submit.onSubmit}>
      <Stack>
        <CurrentPassword of={submit} value={form.password} set={(password) => setForm({ ...form, password })} focus />
        <TextInput
          label={text.session.code} description={text.session.codeHint} autoComplete="one-time-code" required withAsterisk={false} error={submit.fault("code")}
          value={form.code} onChange={(event) => setForm({ ...form, code: event.currentTarget.value })}
        />
        <Problem error={submit.rest("password", "code")} />
        <Button type="submit" loading={submit.busy}>{text.session.turnOff}</Button>
      </Stack>
    </form>
  );
}

/** First the password, then the codes, which are shown this once. */
function NewCodes({ done }: { done: () => void }) {
  const { text } = useText();
  const regenerate = useChange(RegenerateRecoveryCodes);
  const [password, setPassword] = useState("");
  const [codes, setCodes] = useState<readonly string[]>();
  const submit = useSubmit(async () => {
    const { regenerateRecoveryCodes } = await regenerate({ input: { password } });
    setCodes(regenerateRecoveryCodes!.recoveryCodes);
  });
  if (codes) return <RecoveryCodes of={codes} done={done} />;
  return (
    <form onSubmit={submit.onSubmit}>
      <Stack>
        <Text size="sm">{text.session.newCodesHint}</Text>
        <CurrentPassword of={submit} value={password} set={setPassword} focus />
        <Problem error={submit.rest("password")} />
        <Button type="submit" loading={submit.busy}>{text.session.newCodes}</Button>
      </Stack>
    </form>
  );
}

const dialogs = { on: TurnOn, off: TurnOff, codes: NewCodes };
