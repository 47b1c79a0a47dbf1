import { Button, Stack, Text, Textarea } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { useAsk } from "../graph/hooks";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { Foot } from "../ui/Foot";
import { Problem } from "../ui/Problem";
import { SidePanel } from "../ui/SidePanel";
import { useSubmit } from "../ui/useSubmit";
import { InviteReport } from "./InviteReport";
import { InviteRights, type Roles, useGifts } from "./InviteRights";
import { parsePeople } from "./parse";
import { CompanyName } from "./people.gql";
import { most, useInvitation } from "./useInvitation";

/** Invites one person, or as many as are pasted, and gives them what they may do. */
export function Invite() {
  const { text } = useText();
  const me = useMe();
  const { company } = useSearch({ from: "/inside/people" });
  const customerId = company ?? me.customer.databaseId;
  const { data } = useAsk(CompanyName, { id: String(customerId) });
  const navigate = useNavigate();
  const [lines, setLines] = useState("");
  const who = useRef<HTMLTextAreaElement>(null);
  const [roles, setRoles] = useState<Roles>({});
  const canGive = me.can("permission.write");
  const gifts = useGifts(customerId, roles, !canGive);
  const { outcomes, invite, giveAgain } = useInvitation();
  const { people, bad } = parsePeople(lines);
  const fault = bad.length > 0 ? text.people.inviteBad(bad.join(", ")) : people.length > most ? text.people.inviteMany : undefined;
  const submit = useSubmit(async () => {
    const refused = await invite(customerId, people, gifts.gifts);
    // Those who were refused stay, to be mended.
    setLines(refused.map(({ firstName, lastName, email }) => firstName ?? lastName ? [firstName, lastName, `<${email}>`].filter(Boolean).join(" ") : email).join("\n"));
    who.current?.focus({ preventScroll: true }); // the button rests until there is somebody else
  });
  const again = useSubmit(giveAgain);
  return (
    <SidePanel title={text.people.invite} close={() => navigate({ to: "/people", search: true })}>
      <form onSubmit={submit.onSubmit}>
        <Stack>
          <Text size="sm" c="dimmed">{text.people.inviteInto(data?.customer?.name ?? me.customer.name)}</Text>
          {outcomes.length > 0 && <InviteReport of={outcomes} again={() => again.onSubmit()} busy={again.busy} />}
          <Problem error={submit.error} />
          <Textarea
            ref={who} label={text.people.inviteWho} data-autofocus description={text.people.inviteHint} placeholder={text.people.inviteExample} rows={canGive ? 4 : 8} required withAsterisk={false} spellCheck={false}
            error={fault} value={lines} onChange={(event) => setLines(event.currentTarget.value)}
          />
          {canGive && <InviteRights of={gifts} choose={(accountId, roleId) => setRoles({ ...roles, [accountId]: roleId })} />}
          <Foot>
            <Button type="submit" loading={submit.busy} disabled={people.length === 0 || fault !== undefined || (canGive && !gifts.known && !gifts.error)}>
              {text.people.inviteButton(people.length)}
            </Button>
          </Foot>
        </Stack>
      </form>
    </SidePanel>
  );
}
