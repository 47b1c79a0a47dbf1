import { Badge, Button, Group, Stack, Text, TextInput, Title } from "@mantine/core";
import { knowsPasskeys, makePasskey } from "canopy-client";
import { useState } from "react";
import { useAsk, useChange } from "../graph/hooks";
import { useText } from "../text";
import { Dialog } from "../ui/Dialog";
import { Problem } from "../ui/Problem";
import { type Submit, useSubmit } from "../ui/useSubmit";
import { When } from "../ui/When";
import { CurrentPassword } from "./CurrentPassword";
import { byBrowser } from "./passkey";
import { RecoveryCodes } from "./RecoveryCodes";
import { BeginPasskey, CreatePasskey, DeletePasskey, Passkeys as Ask, type PasskeysResult, UpdatePasskey } from "./session.gql";

type OnePasskey = PasskeysResult["me"]["passkeys"][number];

/** The person's passkeys: what they are, a new one, other names, and removing them. */
export function Passkeys() {
  const { text } = useText();
  const { data, error, again } = useAsk(Ask, {});
  const [open, setOpen] = useState<{ what: "new" } | { what: "rename" | "remove"; of: OnePasskey }>();
  const close = () => setOpen(undefined);
  return (
    <Stack gap="xs" component="section" aria-label={text.session.passkeys}>
      <Title order={2} size="h4">{text.session.passkeys}</Title>
      <Text size="sm" c="dimmed">{text.session.passkeysHint}</Text>
      <Problem error={error} again={again} />
      {data?.me.passkeys.map((of) => (
        <Group key={of.id} justify="space-between" wrap="nowrap">
          <div>
            <Group gap="xs">
              <Text>{of.name}</Text>
              <Badge variant="light">{of.backedUp ? text.session.backedUp : text.session.notBackedUp}</Badge>
            </Group>
            <Text size="sm" c="dimmed">
              {text.session.made} <When at={of.createdAt} /> · {of.lastUsedAt ? <>{text.session.lastUsed} <When at={of.lastUsedAt} /></> : text.session.neverUsed}
            </Text>
          </div>
          <Group gap="xs" wrap="nowrap">
            <Button size="xs" variant="default" aria-label={text.session.renamePasskey(of.name)} onClick={() => setOpen({ what: "rename", of })}>{text.session.rename}</Button>
            <Button size="xs" variant="default" aria-label={text.session.removePasskey(of.name)} onClick={() => setOpen({ what: "remove", of })}>{text.session.remove}</Button>
          </Group>
        </Group>
      ))}
      {knowsPasskeys() && <Button variant="default" w="fit-content" onClick={() => setOpen({ what: "new" })}>{text.session.addPasskey}</Button>}
      {open?.what === "new" && <Dialog title={text.session.addPasskey} close={close}><Add done={close} /></Dialog>}
      {open?.what === "rename" && <Dialog title={text.session.renamePasskey(open.of.name)} close={close}><Rename of={open.of} done={close} /></Dialog>}
      {open?.what === "remove" && <Dialog title={text.session.removePasskey(open.of.name)} close={close}><Remove of={open.of} done={close} /></Dialog>}
    </Stack>
  );
}

/** First the password, then the browser asks, and with the first second factor there are recovery codes. */
function Add({ done }: { done: () => void }) {
  const { text } = useText();
  const begin = useChange(BeginPasskey);
  const create = useChange(CreatePasskey);
  const [form, setForm] = useState({ name: "", password: "" });
  const [codes, setCodes] = useState<readonly string[]>();
  const submit = useSubmit(async () => {
    const { beginPasskey } = await begin({ input: { password: form.password } });
    const made = await byBrowser(() => makePasskey(beginPasskey!), text);
    const { createPasskey } = await create({ input: { ...made, name: form.name } });
    if (createPasskey?.recoveryCodes) setCodes(createPasskey.recoveryCodes);
    else done();
  });
  if (codes) return <RecoveryCodes of={codes} done={done} />;
  return (
    <form onSubmit={submit.onSubmit}>
      <Stack>
        <Text size="sm">{text.session.addPasskeyHint}</Text>
        <Name of={submit} value={form.name} set={(name) => setForm({ ...form, name })} />
        <CurrentPassword of={submit} value={form.password} set={(password) => setForm({ ...form, password })} />
        <Problem error={submit.rest("name", "password")} />
        <Button type="submit" loading={submit.busy}>{text.session.goOn}</Button>
      </Stack>
    </form>
  );
}

function Rename({ of, done }: { of: OnePasskey; done: () => void }) {
  const { text } = useText();
  const update = useChange(UpdatePasskey);
  const [name, setName] = useState(of.name);
  const submit = useSubmit(async () => {
    await update({ input: { id: of.id, name, ifVersion: of.version } });
    done();
  });
  return (
    <form onSubmit={submit.onSubmit}>
      <Stack>
        <Name of={submit} value={name} set={setName} />
        <Problem error={submit.rest("name")} />
        <Button type="submit" loading={submit.busy}>{text.session.rename}</Button>
      </Stack>
    </form>
  );
}

function Remove({ of, done }: { of: OnePasskey; done: () => void }) {
  const { text } = useText();
  const remove = useChange(DeletePasskey);
  const [password, setPassword] = useState("");
  const submit = useSubmit(async () => {
    await remove({ input: { id: of.id, password } });
    done();
  });
  return (
    <form onSubmit={submit.onSubmit}>
      <Stack>
        <Text size="sm">{text.session.removePasskeyHint}</Text>
        <CurrentPassword of={submit} value={password} set={setPassword} />
        <Problem error={submit.rest("password")} />
        <Button type="submit" color="red" loading={submit.busy}>{text.session.remove}</Button>
      </Stack>
    </form>
  );
}

interface Field {
  of: Submit;
  value: string;
  set: (value: string) => void;
}

function Name({ of, value, set }: Field) {
  const { text } = useText();
  return (
    <TextInput
      label={text.session.passkeyName} placeholder={text.session.passkeyNameLike} required withAsterisk={false} data-autofocus autoComplete="off" error={of.fault("name")}
      value={value} onChange={(event) => set(event.currentTarget.value)}
    />
  );
}
