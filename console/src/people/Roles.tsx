import { Anchor, Badge, Button, ScrollArea, Skeleton, Stack, Table, Text, Title } from "@mantine/core";
import { IconCheck, IconPlus } from "@tabler/icons-react";
import { Link, Outlet } from "@tanstack/react-router";
import { useAsk } from "../graph/hooks";
import { RightName } from "../session/RightNames";
import { givenBy, useMe } from "../session/rights";
import { useText } from "../text";
import { applicationName } from "../text/applicationName";
import { PageHead } from "../ui/Page";
import { Problem } from "../ui/Problem";
import { Roles as Ask, type RolesResult } from "./people.gql";

type Role = RolesResult["me"]["customer"]["roles"][number];

/** What each role allows: the roles of an application beside each other. */
export function Roles() {
  const { text } = useText();
  const me = useMe();
  const { data, error, again } = useAsk(Ask, {});
  const applications = new Map<string, Role[]>();
  for (const role of data?.me.customer.roles ?? []) applications.set(role.application.code, [...(applications.get(role.application.code) ?? []), role]);
  return (
    <div className="split">
      <div className="list">
        <PageHead title={text.people.roles}>
          {me.can("permission.write") && <Button component={Link} to="/roles/new" leftSection={<IconPlus size={16} aria-hidden />}>{text.people.newRole}</Button>}
        </PageHead>
        <ScrollArea flex={1} viewportProps={{ tabIndex: 0, role: "group", "aria-label": text.people.roles }}>
          <Stack>
            <Text size="sm" c="dimmed">{text.people.rolesHint}</Text>
            <Problem error={error} again={again} />
            {!data && !error && <Skeleton height={300} />}
            {[...applications].map(([code, roles]) => <Matrix key={code} code={code} name={applicationName(text, roles[0]!.application)} roles={roles} />)}
          </Stack>
        </ScrollArea>
      </div>
      <Outlet />
    </div>
  );
}

function Matrix({ code, name, roles }: { code: string; name: string; roles: Role[] }) {
  const { text } = useText();
  const shown = givenBy(roles.flatMap(({ features }) => features), code);
  return (
    <Stack gap="xs" component="section" aria-label={name}>
      <Title order={2} size="h4">{name}</Title>
      <ScrollArea viewportProps={{ tabIndex: 0, role: "group", "aria-label": name }}>
        <Table withTableBorder highlightOnHover miw="36rem">
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">{text.people.right}</Table.Th>
              {roles.map(({ id, databaseId, name, customerId }) => (
                <Table.Th key={id} scope="col"><Anchor component={Link} to={`/roles/${databaseId}`} size="sm" td="underline">{name}</Anchor> {customerId !== null && <Badge size="xs" variant="light">{text.people.ownRole}</Badge>}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {shown.map((right) => (
              <Table.Tr key={right}>
                <Table.Th scope="row" fw={400}><RightName of={right} /></Table.Th>
                {roles.map(({ id, features }) => (
                  <Table.Td key={id}>
                    {features.includes(right) ? <IconCheck size={16} role="img" aria-label={text.people.allowed} /> : <span className="quiet" role="img" aria-label={text.people.notAllowed}>–</span>}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollArea>
    </Stack>
  );
}
