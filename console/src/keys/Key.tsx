import { Alert, Button, Group, Skeleton, Stack, Text } from "@mantine/core";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { useChange } from "../graph/hooks";
import { RightNames } from "../session/RightNames";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { Confirm } from "../ui/Confirm";
import { Empty } from "../ui/Empty";
import { Facts } from "../ui/Facts";
import { Problem } from "../ui/Problem";
import { ShownOnce } from "../ui/ShownOnce";
import { SidePanel } from "../ui/SidePanel";
import { When } from "../ui/When";
import { RevokeKey } from "./keys.gql";
import { type Made, NewSecret } from "./NewSecret";
import { shownOf } from "./shown";
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
  const [secret, setSecret] = useState<Made>();
  const [asking, setAsking] = useState<"secret" | "revoke">();
  const done = () => setAsking(undefined);
  const mayChange = me.can("key.write") && (me.owns || key.user?.id === me.user.id);
  return (
    <Stack>
      {key.revokedAt && <Alert color="red">{text.keys.revokedHint}</Alert>}
      {secret && (
        <ShownOnce
          title={text.keys.secretTitle} values={shownOf(secret, text)} kept={text.ui.secretKept} done={() => setSecret(undefined)}
          hint={<>{text.keys.secretHint} {Date.parse(secret.graceEndsAt) > Date.now() ? <>{text.keys.oldUntil} <When at={secret.graceEndsAt} />.</> : text.keys.oldEnded}</>}
        />
      )}
      <Facts of={[
        [text.keys.clientId, key.clientId],
        [text.keys.actsAs, key.user?.name || key.user?.email || "–"],
        [text.keys.rights, key.features ? <RightNames key="rights" of={key.features} /> : text.keys.allRights],
        [text.keys.networks, key.allowedAddresses?.join(", ") ?? text.keys.anywhere],
        [text.keys.createdAt, <When key="created" at={key.createdAt} />],
        [text.keys.expiresAt, <When key="expires" at={key.expiresAt} />],
        [text.keys.lastUsed, <When key="used" at={key.lastUsedAt} />],
      ]} />
      {mayChange && !key.revokedAt && (
        <Group gap="xs">
          <Button variant="default" onClick={() => setAsking("secret")}>{text.keys.rotate}</Button>
          <Button variant="default" c="var(--mantine-color-error)" onClick={() => setAsking("revoke")}>{text.keys.revoke}</Button>
        </Group>
      )}
      {me.can("key.write") && !mayChange && !key.revokedAt && <Text size="sm" c="dimmed">{text.keys.ownersOnly}</Text>}
      {asking === "secret" && <NewSecret of={key} close={done} made={setSecret} />}
      {asking === "revoke" && <Revoke of={key} close={done} />}
    </Stack>
  );
}

function Revoke({ of: { id, name, clientId }, close }: { of: ApiKey; close: () => void }) {
  const { text } = useText();
  const revoke = useChange(RevokeKey);
  return (
    <Confirm title={text.keys.revokeTitle(name || clientId)} button={text.keys.revoke} close={close} work={() => revoke({ input: { id } })}>
      <Text size="sm">{text.keys.revokeHint}</Text>
    </Confirm>
  );
}
