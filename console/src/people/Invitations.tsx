import { Badge, Button, Group, SegmentedControl, Skeleton, Stack, Text } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { useAsk, useChange } from "../graph/hooks";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { Confirm } from "../ui/Confirm";
import { Empty } from "../ui/Empty";
import { Problem } from "../ui/Problem";
import { SidePanel } from "../ui/SidePanel";
import { useNotices } from "../ui/useNotices";
import { When } from "../ui/When";
import { Invitations as Ask, type InvitationsResult, ResendInvitation, WithdrawInvitation } from "./people.gql";

type Invitation = NonNullable<InvitationsResult["customer"]>["invitations"][number];

const open = (status: string) => status === "PENDING" || status === "EXPIRED";

/** Whom a company has invited: those who have not answered, or all. */
export function Invitations() {
  const { text } = useText();
  const me = useMe();
  const { company, all } = useSearch({ from: "/inside/people/invitations" });
  const navigate = useNavigate();
  const { data, error, again } = useAsk(Ask, { id: String(company ?? me.customer.databaseId) });
  const customer = data?.customer;
  // The newest is what one comes for.
  const invitations = customer?.invitations.filter(({ status }) => all || open(status)).reverse();
  return (
    <SidePanel title={text.people.invitations} close={() => navigate({ to: "/people", search: { company } })}>
      <Stack>
        {customer && <Text size="sm" c="dimmed">{text.people.inviteInto(customer.name)}</Text>}
        <SegmentedControl
          aria-label={text.people.invitationState} size="xs" value={all ? "all" : "open"} data={(["open", "all"] as const).map((value) => ({ value, label: text.people.invitationStates[value] }))}
          onChange={(value) => navigate({ to: "/people/invitations", search: { company, all: value === "all" || undefined }, replace: true })}
        />
        <Problem error={error} again={again} />
        {!customer && !error && <Skeleton height={200} />}
        {invitations?.length === 0 && <Empty title={text.people.noInvitation} hint={text.people.noInvitationHint} />}
        {invitations?.map((one) => <One key={one.id} of={one} />)}
      </Stack>
    </SidePanel>
  );
}

function One({ of: { id, email, status, createdAt, expiresAt, inviter } }: { of: Invitation }) {
  const { text } = useText();
  const me = useMe();
  const { say, mailed, attempt } = useNotices();
  const resend = useChange(ResendInvitation);
  const withdraw = useChange(WithdrawInvitation);
  const [withdrawing, setWithdrawing] = useState(false);
  const again = () => attempt(async () => {
    const { resendInvitation } = await resend({ input: { id } });
    // Of more than a few in a day none is sent, and the time of those that were stays.
    if (resendInvitation?.invitation?.expiresAt === expiresAt) say(text.people.notResent);
    else mailed(text.people.resent);
  });
  return (
    <Stack gap={4} component="article" aria-label={email}>
      <Group gap="xs">
        <Text size="sm" fw={600} style={{ overflowWrap: "anywhere" }}>{email}</Text>
        <Badge variant="light" color={status === "PENDING" ? "canopy" : "gray"}>{text.people.invitationStatus[status]}</Badge>
      </Group>
      <Text size="sm" c="dimmed">
        {text.people.sent} <When at={createdAt} />{inviter && ` ${text.people.by(inviter.name || inviter.email)}`}
        {open(status) && <> · {status === "EXPIRED" ? text.people.hasExpired : text.people.expires} <When at={expiresAt} /></>}
      </Text>
      {open(status) && me.can("user.write") && (
        <Group gap="xs">
          <Button size="compact-sm" variant="default" aria-label={`${text.people.resendShort}: ${email}`} onClick={again}>{text.people.resendShort}</Button>
          <Button size="compact-sm" variant="default" c="var(--mantine-color-error)" aria-label={`${text.people.withdraw}: ${email}`} onClick={() => setWithdrawing(true)}>{text.people.withdraw}</Button>
        </Group>
      )}
      {withdrawing && (
        <Confirm title={text.people.withdrawTitle(email)} button={text.people.withdraw} close={() => setWithdrawing(false)} work={async () => {
          await withdraw({ input: { id } });
          say(text.people.withdrawn);
        }}>
          <Text size="sm">{text.people.withdrawHint}</Text>
        </Confirm>
      )}
    </Stack>
  );
}
