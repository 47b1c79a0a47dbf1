import { Anchor, Card, List, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useAsk } from "../graph/hooks";
import { useText } from "../text";
import { WithoutRights as Ask } from "./people.gql";

const days = 30;
const shown = 5;

/** Who has come lately and may do nothing yet, such as those whom an identity provider has let in: they wait for somebody who gives rights. */
export function WithoutRights() {
  const { text } = useText();
  const [since] = useState(() => new Date(Date.now() - days * 24 * 3600_000).toISOString());
  const { data } = useAsk(Ask, { since });
  const waiting = data?.users.nodes.filter(({ permissions }) => permissions.nodes.length === 0) ?? [];
  if (waiting.length === 0) return null;
  return (
    <Card withBorder component="section" aria-label={text.people.waiting} maw="44rem">
      <Title order={2} size="h4">{text.people.waiting}</Title>
      <Text size="sm" c="dimmed">{text.people.waitingHint}</Text>
      <List mt="xs" size="sm" listStyleType="none">
        {waiting.slice(0, shown).map(({ id, databaseId, name, email }) => (
          <List.Item key={id}><Anchor component={Link} to={`/people/${databaseId}/grant`}>{name ? `${name} · ${email}` : email}</Anchor></List.Item>
        ))}
      </List>
      {waiting.length > shown && <Text size="sm" c="dimmed">{text.people.waitingMore(waiting.length - shown)}</Text>}
    </Card>
  );
}
