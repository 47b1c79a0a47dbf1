import { Badge, ScrollArea, Skeleton, Stack, Table, Text, Title } from "@mantine/core";
import { IconCheck } from "@tabler/icons-react";
import { useAsk } from "../graph/hooks";
import { useText } from "../text";
import { PageHead } from "../ui/Page";
import { Problem } from "../ui/Problem";
import { Roles as Ask, type RolesResult } from "./people.gql";

type Role = RolesResult["me"]["customer"]["roles"][number];

/** What each role allows: the roles of an application beside each other. */
export function Roles() {
  const { text } = useText();
  const { data, error, again } = useAsk(Ask, {});
  const applications = new Map<string, Role[]>();
  for (const role of data?.me.customer.roles ?? []) applications.set(role.application.name, [...(applications.get(role.application.name) ?? []), role]);
  return (
    <Stack>
      <PageHead title={text.people.roles} />
      <Text size="sm" c="dimmed">{text.people.rolesHint}</Text>
      <Problem error={error} again={again} />
      {!data && !error && <Skeleton height={300} />}
      {[...applications].map(([name, roles]) => <Matrix key={name} name={name} roles={roles} />)}
    </Stack>
  );
}

function Matrix({ name, roles }: { name: string; roles: Role[] }) {
  const { text } = useText();
  const rights = [...new Set(roles.flatMap(({ features }) => features))].sort();
  return (
    <Stack gap="xs" component="section" aria-label={name}>
      <Title order={2} size="h4">{name}</Title>
      <ScrollArea viewportProps={{ tabIndex: 0, role: "group", "aria-label": name }}>
        <Table withTableBorder highlightOnHover miw="36rem">
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">{text.people.right}</Table.Th>
              {roles.map(({ id, name, customerId }) => (
                <Table.Th key={id} scope="col">{name} {customerId !== null && <Badge size="xs" variant="light">{text.people.ownRole}</Badge>}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rights.map((right) => (
              <Table.Tr key={right}>
                <Table.Th scope="row" fw={400}>{right}</Table.Th>
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
