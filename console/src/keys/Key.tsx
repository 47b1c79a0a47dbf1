import { Alert, Button, Group, Skeleton, Stack, Text } from "@mantine/core";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { useChange } from "../graph/hooks";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { Dialog } from "../ui/Dialog";
import { Empty } from "../ui/Empty";
import { Facts } from "../ui/Facts";
import { Problem } from "../ui/Problem";
import { SidePanel } from "../ui/SidePanel";
import { useNotices } from "../ui/useNotices";
import { useSubmit } from "../ui/useSubmit";
import { When } from "../ui/When";
import { RevokeKey, RotateKey } from "./keys.gql";
import { Secret, type ShownOnce } from "./Secret";
import { useOwns } from "./useOwns";
import { type ApiKey, useKeys } from "./useKeys";

/** One API key. */
export function Key() {
  const { text } = useText();
  const { keyId } = useParams({ from: "/inside/keys/$keyId" });
  const navigate = useNavigate();
  const pages = useKeys();
  const key = pages.rows.find(({ databaseId }) => String(databaseId) === keyId);
  // One that stands far down is there once the pages before it are.
  useEffect(() => {
    if (!key && pages.known && pages.more) pages.show(0, pages.rows.length);
  });
  return (
    <SidePanel key={keyId} title={key?.name || key?.clientId || text.keys.one} close={() => navigate({ to: "/keys" })}>
      <Problem error={pages.error} again={() => pages.retry()} />
      {key ? <Shown of={key} /> : pages.more ? !pages.error && <Skeleton height={200} /> : <Empty title={text.problems.notFound} />}
    </SidePanel>
  );
}

function Shown({ of: key }: { of: ApiKey }) {
  const { text } = useText();
  const me = useMe();
  const owns = useOwns();
  const { attempt } = useNotices();
  const rotate = useChange(RotateKey);
  const [secret, setSecret] = useState<ShownOnce>();
  const [revoking, setRevoking] = useState(false);
  const mayChange = me.can("key.write") && (owns || key.user?.id === me.user.id);
  return (
    <Stack>
      {key.revokedAt && <Alert color="red">{text.keys.revokedHint}</Alert>}
      {secret && <Secret of={secret} />}
      <Facts of={[
        [text.keys.clientId, key.clientId],
        [text.keys.actsAs, key.user?.name || key.user?.email || "–"],
        [text.keys.rights, key.features?.join(", ") ?? text.keys.allRights],
        [text.keys.networks, key.allowedAddresses?.join(", ") ?? text.keys.anywhere],
        [text.keys.createdAt, <When key="created" at={key.createdAt} />],
        [text.keys.expiresAt, <When key="expires" at={key.expiresAt} />],
        [text.keys.lastUsed, <When key="used" at={key.lastUsedAt} />],
      ]} />
      {mayChange && !key.revokedAt && (
        <Group gap="xs">
          <Button variant="default" onClick={() => attempt(async () => {
            const { rotateApiKeySecret } = await rotate({ input: { id: key.id } });
            if (rotateApiKeySecret) setSecret(rotateApiKeySecret);
          })}>{text.keys.rotate}</Button>
          <Button variant="default" c="var(--mantine-color-error)" onClick={() => setRevoking(true)}>{text.keys.revoke}</Button>
        </Group>
      )}
      {me.can("key.write") && !mayChange && !key.revokedAt && <Text size="sm" c="dimmed">{text.keys.ownersOnly}</Text>}
      {revoking && <Revoke of={key} close={() => setRevoking(false)} />}
    </Stack>
  );
}

function Revoke({ of: { id, name, clientId }, close }: { of: ApiKey; close: () => void }) {
  const { text } = useText();
  const revoke = useChange(RevokeKey);
  const submit = useSubmit(async () => {
    await revoke({ input: { id } });
    close();
  });
  return (
    <Dialog title={text.keys.revokeTitle(name || clientId)} close={close}>
      <form onSubmit={submit.onSubmit}>
        <Stack>
          <Text size="sm">{text.keys.revokeHint}</Text>
          <Problem error={submit.error} />
          <Group>
            <Button type="submit" color="red.9" loading={submit.busy}>{text.keys.revoke}</Button>
            <Button variant="default" onClick={close}>{text.ui.cancel}</Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
