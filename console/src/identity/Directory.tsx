import { Button, NativeSelect, Skeleton, Stack, Text, TextInput } from "@mantine/core";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { useAsk, useChange } from "../graph/hooks";
import { RightNames } from "../session/RightNames";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { Confirm } from "../ui/Confirm";
import { Empty } from "../ui/Empty";
import { Facts } from "../ui/Facts";
import { Foot } from "../ui/Foot";
import { Problem } from "../ui/Problem";
import { ShownOnce } from "../ui/ShownOnce";
import { SidePanel } from "../ui/SidePanel";
import { useSubmit } from "../ui/useSubmit";
import { When } from "../ui/When";
import { CreateScimToken, DeleteScimToken, ScimTokens as Ask } from "./identity.gql";

const lives = [90, 365] as const; // days

/** Makes a token for a directory, and shows it once, with where the directory sends it. */
export function NewDirectory() {
  const { text } = useText();
  const navigate = useNavigate();
  const create = useChange(CreateScimToken);
  const [form, setForm] = useState({ name: "", days: "365" });
  const [token, setToken] = useState<string>();
  const submit = useSubmit(async () => {
    const expiresAt = form.days === "" ? null : new Date(Date.now() + Number(form.days) * 86_400_000).toISOString();
    const { createScimToken } = await create({ input: { name: form.name, expiresAt } });
    setToken(createScimToken!.token);
  });
  const close = () => navigate({ to: "/identity/directories" });
  const url = `${location.origin}/scim/v2`;
  return (
    <SidePanel title={text.identity.createToken} close={close}>
      {token !== undefined ? (
        <ShownOnce
          title={text.identity.tokenTitle} hint={text.identity.tokenHint} kept={text.ui.secretKept} done={() => void close()}
          values={[[text.identity.baseUrl, url, text.identity.copyUrl], [text.identity.token, token, text.identity.copyToken]]}
        />
      ) : (
        <form onSubmit={submit.onSubmit}>
          <Stack>
            <Problem error={submit.rest("name", "expiresAt")} />
            <Text size="sm">{text.identity.actsHint}</Text>
            <TextInput label={text.identity.tokenName} data-autofocus description={text.identity.tokenNameHint} required withAsterisk={false} error={submit.fault("name")} value={form.name} onChange={({ currentTarget: { value } }) => setForm({ ...form, name: value })} />
            <NativeSelect
              label={text.keys.expiresAt} error={submit.fault("expiresAt")} value={form.days}
              data={[...lives.map((days) => ({ value: String(days), label: text.keys.inDays(days) })), { value: "", label: text.ui.never }]}
              onChange={({ currentTarget: { value } }) => setForm({ ...form, days: value })}
            />
            <Foot>
              <Button type="submit" loading={submit.busy}>{text.identity.createButton}</Button>
              <Button variant="default" onClick={close}>{text.ui.cancel}</Button>
            </Foot>
          </Stack>
        </form>
      )}
    </SidePanel>
  );
}

/** One directory: when it was here last, what it may, and its end. */
export function Directory() {
  const { text } = useText();
  const me = useMe();
  const { tokenId } = useParams({ from: "/inside/identity/directories/$tokenId" });
  const navigate = useNavigate();
  const { data, error, again } = useAsk(Ask, {});
  const remove = useChange(DeleteScimToken);
  const [removing, setRemoving] = useState(false);
  const token = data?.me.customer.scimTokens.find(({ databaseId }) => String(databaseId) === tokenId);
  const close = () => navigate({ to: "/identity/directories" });
  return (
    <SidePanel key={tokenId} title={token?.name ?? text.identity.directory} close={close}>
      <Problem error={error} again={again} />
      {!token ? !error && (data ? <Empty title={text.problems.notFound} /> : <Skeleton height={200} />) : (
        <Stack>
          <Facts of={[
            [text.identity.lastUsed, <When key="used" at={token.lastUsedAt} never={text.identity.unused} />],
            [text.identity.lastChanged, <When key="changed" at={token.lastChangedAt} never={text.identity.unchanged} />],
            [text.keys.actsAs, token.createdBy?.name || token.createdBy?.email || "–"],
            [text.keys.rights, <RightNames key="rights" of={token.features} />],
            [text.keys.createdAt, <When key="created" at={token.createdAt} />],
            [text.keys.expiresAt, <When key="expires" at={token.expiresAt} />],
          ]} />
          {me.can("key.write") && (me.owns || token.createdBy?.id === me.user.id) && <Button variant="default" w="fit-content" c="var(--mantine-color-error)" onClick={() => setRemoving(true)}>{text.identity.end}</Button>}
          {removing && (
            <Confirm title={text.identity.endTitle(token.name)} button={text.identity.end} close={() => setRemoving(false)} work={async () => {
              await remove({ input: { id: token.id } });
              await close();
            }}>
              {text.identity.endHint}
            </Confirm>
          )}
        </Stack>
      )}
    </SidePanel>
  );
}
