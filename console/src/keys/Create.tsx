import { Button, Checkbox, Fieldset, NativeSelect, Stack, Textarea, TextInput } from "@mantine/core";
import "@mantine/core/styles/Fieldset.css";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { useChange } from "../graph/hooks";
import { RightName } from "../session/RightNames";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { Foot } from "../ui/Foot";
import { Problem } from "../ui/Problem";
import { ShownOnce } from "../ui/ShownOnce";
import { SidePanel } from "../ui/SidePanel";
import { useSubmit } from "../ui/useSubmit";
import { ActsAs } from "./ActsAs";
import { CreateKey } from "./keys.gql";
import { type Credentials, shownOf } from "./shown";

const lives = [30, 90, 365] as const; // days

/** Creates an API key that acts as the caller, or for an owner as somebody else, with all of their rights or some. */
export function Create() {
  const { text } = useText();
  const me = useMe();
  const { user } = useSearch({ from: "/inside/keys/new" });
  const navigate = useNavigate();
  const create = useChange(CreateKey);
  const [form, setForm] = useState<{ name: string; days: string; networks: string; features: string[] }>({ name: "", days: "90", networks: "", features: [] });
  const [secret, setSecret] = useState<Credentials>();
  const rights = [...new Set(me.grants.flatMap(({ features }) => features))].sort();
  const submit = useSubmit(async () => {
    const networks = form.networks.split(/[\s,]+/).filter(Boolean);
    const { createApiKey } = await create({
      input: {
        name: form.name,
        ...(user === undefined ? {} : { userId: String(user) }),
        expiresAt: form.days === "" ? null : new Date(Date.now() + Number(form.days) * 86_400_000).toISOString(),
        features: form.features.length > 0 ? form.features : null,
        allowedAddresses: networks.length > 0 ? networks : null,
      },
    });
    if (createApiKey) setSecret(createApiKey);
  });
  const close = () => navigate({ to: "/keys" });
  return (
    <SidePanel title={text.keys.create} close={close}>
      {secret ? (
        <ShownOnce title={text.keys.secretTitle} hint={text.keys.secretHint} values={shownOf(secret, text)} kept={text.ui.secretKept} done={() => void close()} />
      ) : (
        <form onSubmit={submit.onSubmit}>
          <Stack>
            <Problem error={submit.rest("name", "userId", "expiresAt", "allowedAddresses")} />
            <TextInput label={text.keys.name} data-autofocus description={text.keys.nameHint} required withAsterisk={false} error={submit.fault("name")} value={form.name} onChange={(event) => setForm({ ...form, name: event.currentTarget.value })} />
            {me.owns && me.can("user.read") && <ActsAs userId={user} choose={(user) => navigate({ to: "/keys/new", search: { user }, replace: true })} error={submit.fault("userId")} hint={text.keys.actsAsHint} />}
            <NativeSelect
              label={text.keys.expiresAt} error={submit.fault("expiresAt")} value={form.days}
              data={[...lives.map((days) => ({ value: String(days), label: text.keys.inDays(days) })), { value: "", label: text.ui.never }]}
              onChange={(event) => setForm({ ...form, days: event.currentTarget.value })}
            />
            <Textarea
              label={text.keys.networks} description={text.keys.networksHint} placeholder="203.0.113.0/24" rows={2} error={submit.fault("allowedAddresses")}
              value={form.networks} onChange={(event) => setForm({ ...form, networks: event.currentTarget.value })}
            />
            <Fieldset legend={text.keys.rights}>
              <Checkbox.Group description={user === undefined ? text.keys.rightsHint : text.keys.theirRightsHint} value={form.features} onChange={(features) => setForm({ ...form, features })} aria-label={text.keys.rights}>
                <Stack gap={6} mt="xs">{rights.map((right) => <Checkbox key={right} size="xs" value={right} label={<RightName of={right} />} />)}</Stack>
              </Checkbox.Group>
            </Fieldset>
            <Foot>
              <Button type="submit" loading={submit.busy}>{text.keys.createButton}</Button>
              <Button variant="default" onClick={close}>{text.ui.cancel}</Button>
            </Foot>
          </Stack>
        </form>
      )}
    </SidePanel>
  );
}
