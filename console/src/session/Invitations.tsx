import { Button, Group, Stack, Text, Title } from "@mantine/core";
import { useAsk, useChange } from "../graph/hooks";
import { useText } from "../text";
import { useNotices } from "../ui/useNotices";
import { When } from "../ui/When";
import { useMe } from "./rights";
import { session } from "./session";
import { AcceptInvitation, DeclineInvitation, Invited } from "./session.gql";

/** Companies that ask the person to join. */
export function Invitations() {
  const { text } = useText();
  const me = useMe();
  const { attempt } = useNotices();
  const { data } = useAsk(Invited, {});
  const accept = useChange(AcceptInvitation);
  const decline = useChange(DeclineInvitation);
  const answer = (change: typeof accept | typeof decline, id: string) => attempt(async () => {
    await change({ input: { id } });
    await session.switchTo(me.customer.databaseId); // which gives the companies that one can go on in
  });
  if (!data || data.me.invitations.length === 0) return null;
  return (
    <Stack gap="xs" component="section" aria-label={text.session.invitations}>
      <Title order={2} size="h4">{text.session.invitations}</Title>
      {data.me.invitations.map(({ id, customer, expiresAt }) => (
        <Group key={id} justify="space-between" wrap="nowrap">
          <div>
            <Text>{text.session.invitationOf(customer.name)}</Text>
            <Text size="sm" c="dimmed">{text.session.invitationUntil} <When at={expiresAt} /></Text>
          </div>
          <Group gap="xs">
            <Button size="xs" aria-label={`${text.session.accept}: ${customer.name}`} onClick={() => answer(accept, id)}>{text.session.accept}</Button>
            <Button size="xs" variant="default" aria-label={`${text.session.decline}: ${customer.name}`} onClick={() => answer(decline, id)}>{text.session.decline}</Button>
          </Group>
        </Group>
      ))}
    </Stack>
  );
}
