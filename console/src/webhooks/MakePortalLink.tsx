import { Alert, Button, Checkbox, Code, Group, Stack, Text } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { useAsk, useChange } from "../graph/hooks";
import { ActsAs } from "../keys/ActsAs";
import { CreateKey, RevokeKey } from "../keys/keys.gql";
import { CompanyName } from "../people/people.gql";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { CopyText } from "../ui/CopyText";
import { Foot } from "../ui/Foot";
import { Problem } from "../ui/Problem";
import { SidePanel } from "../ui/SidePanel";
import { useNotices } from "../ui/useNotices";
import { useShownOnce } from "../ui/useShownOnce";
import { useSubmit } from "../ui/useSubmit";
import { When } from "../ui/When";
import type { DestinationsSearch } from "./address";
import { type PortalLink, portalLinkOf } from "./portalLink";

const keyLife = 20 * 60_000; // ms: somewhat longer than a token's

/** Makes a link to the portal, of a key that ends soon after it: for a try, or for somebody to whom one's own server gives none. */
export function MakePortalLink() {
  const { text } = useText();
  const { portalLink } = text.webhooks;
  const me = useMe();
  const { company }: DestinationsSearch = useSearch({ strict: false });
  const other = company !== undefined && company !== me.customer.databaseId;
  const { data } = useAsk(CompanyName, { id: String(company ?? me.customer.databaseId) });
  const navigate = useNavigate();
  const create = useChange(CreateKey);
  const [user, setUser] = useState<number>();
  const [change, setChange] = useState(true);
  const [made, setMade] = useState<PortalLink & { keyId: string }>();
  const close = () => navigate({ to: "/webhooks/destinations", search: true });
  const submit = useSubmit(async () => {
    const { createApiKey } = await create({
      input: {
        name: portalLink.key, expiresAt: new Date(Date.now() + keyLife).toISOString(), features: ["webhook.read", ...(change ? ["webhook.write"] : [])],
        ...(other && { customerId: String(company) }), ...(user !== undefined && { userId: String(user) }),
      },
    });
    const { apiKey, clientId, clientSecret } = createApiKey!;
    setMade({ keyId: apiKey!.id, ...(await portalLinkOf(clientId, clientSecret)) });
  });
  return (
    <SidePanel title={portalLink.title} close={close}>
      {made ? <Made link={made} close={close} /> : (
        <form onSubmit={submit.onSubmit}>
          <Stack>
            <Text size="sm">{portalLink.hint(data?.customer?.name ?? "…")}</Text>
            <Problem error={submit.rest("userId", "expiresAt")} />
            {me.owns && me.can("user.read") && <ActsAs userId={user} choose={setUser} error={submit.fault("userId")} hint={portalLink.asHint} customerId={other ? String(company) : undefined} />}
            {submit.fault("expiresAt") && <Text size="sm" c="var(--mantine-color-error)">{submit.fault("expiresAt")}</Text>}
            {me.can("webhook.write") && <Checkbox label={portalLink.change} description={portalLink.changeHint} checked={change} onChange={(event) => setChange(event.currentTarget.checked)} />}
            <Foot>
              <Button type="submit" loading={submit.busy} disabled={other && user === undefined}>{portalLink.make}</Button>
              <Button variant="default" onClick={close}>{text.ui.cancel}</Button>
            </Foot>
          </Stack>
        </form>
      )}
    </SidePanel>
  );
}

function Made({ link: { href, until, keyId }, close }: { link: PortalLink & { keyId: string }; close: () => void }) {
  const { text } = useText();
  const { portalLink } = text.webhooks;
  const revoke = useChange(RevokeKey);
  const { say, attempt } = useNotices();
  const keep = useShownOnce(close);
  const end = async () => {
    if (!(await attempt(() => revoke({ input: { id: keyId } })))) return;
    say(portalLink.ended);
    keep();
  };
  return (
    <Stack>
      <Alert role="status" title={portalLink.made}>
        <Stack gap="xs">
          <Text size="sm">{portalLink.until} <When at={until.toISOString()} />. {portalLink.madeHint}</Text>
          <Code block style={{ overflowWrap: "anywhere", whiteSpace: "pre-wrap", maxHeight: "8rem", overflow: "auto" }} tabIndex={0}>{href}</Code>
          <Group><CopyText value={href} /></Group>
        </Stack>
      </Alert>
      <Text size="sm" c="dimmed">{portalLink.server}</Text>
      <Group>
        <Button onClick={keep}>{text.ui.secretKept}</Button>
        <Button variant="default" onClick={() => void end()}>{portalLink.end}</Button>
      </Group>
    </Stack>
  );
}
