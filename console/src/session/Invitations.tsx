import { Button, Group, Stack, Text, Title } from "@mantine/core";
import { useAsk, useChange } from "../graph/hooks";
import { useText } from "../text";
import { useNotices } from "../ui/useNotices";
import { useMe } from "./rights";
import { session } from "./session";
import { AcceptInvitation, DeclineInvitation, Places } from "./session.gql";

/** Companies that ask the person to join. */
export function Invitations() {
  const { text } = useText();
  const me = useMe();
  const { attempt } = useNotices();
  const { data } = useAsk(Places, {});
  const accept = useChange(AcceptInvitation);
  const decline = useChange(DeclineInvitation);
  const join = (id: string) => attempt(async () => {
    await accept({ input: { id } });
    await session.switchTo(me.customer.databaseId); // which gives the companies that one can go on in
  });
  if (!data || data.me.invitations.length === 0) return null;
  return (
    <Stack gap="xs" component="section" aria-label={text.session.invitations}>
      <Title order={2} size="h4">{text.session.invitations}</Title>
      {data.me.invitations.map(({ id, customer }) => (
        <Group key={id} justify="space-between">
          <Text>{text.session.invitationOf(customer.name)}</Text>
          <Group gap="xs">
            <Button size="xs" aria-label={`${text.session.accept}: ${customer.name}`} onClick={() => join(id)}>{text.session.accept}</Button>
            <Button size="xs" variant="default" aria-label={`${text.session.decline}: ${customer.name}`} onClick={() => attempt(() => decline({ input: { id } }))}>{text.session.decline}</Button>
          </Group>
        </Group>
      ))}
    </Stack>
  );
}
