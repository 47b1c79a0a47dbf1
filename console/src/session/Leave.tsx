import { Button, Group, List, Stack, Text, Title } from "@mantine/core";
import { useState } from "react";
import { useChange } from "../graph/hooks";
import { useText } from "../text";
import { Confirm } from "../ui/Confirm";
import { Problem } from "../ui/Problem";
import { useNotices } from "../ui/useNotices";
import { plainly } from "./lastOwner";
import { useMe } from "./rights";
import { LeaveCompany } from "./session.gql";
import { session, signOutBy } from "./session";
import { usePlaces } from "./usePlaces";

interface Place {
  id: number;
  name: string;
  /** What the person is there; nothing where they may do nothing. */
  role: string | undefined;
}

/** The companies that the person belongs to, and how to leave one. */
export function Leave() {
  const { text } = useText();
  const me = useMe();
  const { places: within, error, again } = usePlaces();
  const [leaving, setLeaving] = useState<Place>();
  // Where one may do something, and within reach where one may not.
  const places = new Map<number, Place>(session.companies.map(({ customerId, displayName, roleName }) => [customerId, { id: customerId, name: displayName, role: roleName }]));
  for (const { databaseId, name } of within ?? []) if (!places.has(databaseId)) places.set(databaseId, { id: databaseId, name, role: undefined });
  return (
    <Stack gap="xs" component="section" aria-label={text.session.companies}>
      <Title order={2} size="h4">{text.session.companies}</Title>
      <Problem error={error} again={again} />
      {[...places.values()].map((place) => (
        <Group key={place.id} justify="space-between" wrap="nowrap">
          <div>
            <Text>{place.name}</Text>
            <Text size="sm" c="dimmed">{place.role ?? text.session.noRole}{place.id === me.customer.databaseId && ` · ${text.session.thisCompany}`}</Text>
          </div>
          <Button size="xs" variant="default" aria-label={text.session.leaveOne(place.name)} onClick={() => setLeaving(place)}>{text.session.leave}</Button>
        </Group>
      ))}
      {leaving && <Asked place={leaving} close={() => setLeaving(undefined)} />}
    </Stack>
  );
}

/** Says what ends there, and leaves. The session in the company that one acts for ends with it. */
function Asked({ place: { id, name }, close }: { place: Place; close: () => void }) {
  const { text } = useText();
  const me = useMe();
  const { say } = useNotices();
  const leave = useChange(LeaveCompany);
  const here = id === me.customer.databaseId;
  const change = async () => {
    await leave({ input: { customerId: id } });
    say(text.session.left(name));
  };
  const work = () => plainly(async () => {
    if (here) return signOutBy(change);
    await change();
    await session.switchTo(me.customer.databaseId); // which gives the companies that are left
  }, text.session.lastOwner(name));
  return (
    <Confirm title={text.session.leaveTitle(name)} button={text.session.leave} close={close} work={work}>
      <Text size="sm">{text.session.leaveEnds}</Text>
      <List size="sm">
        {text.session.leaveWhat.map((one) => <List.Item key={one}>{one}</List.Item>)}
      </List>
      <Text size="sm" mt="xs">{here ? text.session.leaveOut : text.session.leaveBack}</Text>
    </Confirm>
  );
}
