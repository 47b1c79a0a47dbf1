import { Anchor, List, Skeleton, Stack, Title } from "@mantine/core";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useAsk } from "../graph/hooks";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { Empty } from "../ui/Empty";
import { Facts } from "../ui/Facts";
import { Problem } from "../ui/Problem";
import { SidePanel } from "../ui/SidePanel";
import { When } from "../ui/When";
import { Person as Ask } from "./people.gql";
import { Rights } from "./Rights";

/** One person. */
export function Person() {
  const { text } = useText();
  const me = useMe();
  const { personId } = useParams({ from: "/inside/people/$personId" });
  const navigate = useNavigate();
  const { data, error, again } = useAsk(Ask, { id: personId });
  // Until somebody else is known, who was shown before still is: their rights are not to stand below another name.
  const user = String(data?.user?.databaseId) === personId ? data?.user : undefined;
  // To all but the root's people somebody out of reach and nobody are the same.
  const gone = !user && (error?.code === "NOT_FOUND" || (error?.code === "FORBIDDEN" && me.can("user.read")));
  return (
    <SidePanel key={personId} title={user ? user.name || user.email : text.people.one} close={() => navigate({ to: "/people", search: true })}>
      <Stack>
        {gone ? <Empty title={text.people.gone} hint={text.people.goneHint} /> : <Problem error={error} again={again} />}
        {!user && !error && <Skeleton height={200} />}
        {user && (
          <>
            <Facts of={[
              [text.people.email, user.email],
              [text.people.password, user.hasPassword ? text.ui.yes : text.people.pending],
              [text.people.twoFactor, user.otpMethod === "none" ? text.ui.no : text.ui.yes],
              [text.people.lastAccess, <When key="last" at={user.lastAccess} />],
              [text.people.since, <When key="since" at={user.createdAt} />],
              [text.people.id, user.databaseId],
            ]} />
            <Rights person={user} />
            <Title order={3} size="h5">{text.people.companies}</Title>
            <List size="sm" listStyleType="none">
              {user.customers.nodes.map(({ id, databaseId, path }) => (
                <List.Item key={id}><Anchor component={Link} to={`/companies/${databaseId}`} size="sm">{path}</Anchor></List.Item>
              ))}
            </List>
          </>
        )}
      </Stack>
    </SidePanel>
  );
}
