import { List, ScrollArea, Stack, Table, Text, Title } from "@mantine/core";
import "@mantine/core/styles/Table.css";
import type { ReactNode } from "react";
import { useAsk } from "../graph/hooks";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { Problem } from "../ui/Problem";
import { DefaultLimits, TenantApplication, WhoReaches } from "./companies.gql";
import { type Bound, boundsOf, changeOfReach, type Limit, mayCreate, type Mover, type Place } from "./place";

interface Moved {
  mover: Mover;
  place: Place;
}

/** What will be otherwise for a company at another place. */
export function MoveChanges({ mover, place }: Moved) {
  const { text, format } = useText();
  const { totalCount, totalCountCapped } = mover.descendants;
  const below = totalCountCapped ? text.companies.more(format.number(totalCount)) : format.number(totalCount);
  return (
    <Stack gap="sm" component="section" aria-label={text.companies.moveChange}>
      <Title order={3} size="h5">{text.companies.moveChange}</Title>
      <List size="sm">
        <List.Item>{text.companies.movePath} {place.path}/{mover.name}</List.Item>
        <List.Item>{totalCount === 0 ? text.companies.moveAlone : text.companies.moveAlong(totalCount, below)}</List.Item>
        <Creates mover={mover} place={place} />
        <SignsIn mover={mover} place={place} />
      </List>
      <Reach mover={mover} place={place} />
      <Limits mover={mover} place={place} />
    </Stack>
  );
}

function Creates({ mover, place }: Moved) {
  const { text } = useText();
  const { may, by } = mayCreate(mover, place);
  const now = mover.effectiveCanAddCustomers;
  if (may === now) return <List.Item>{may ? text.companies.moveCreates : text.companies.moveCreatesNot}</List.Item>;
  return <List.Item>{may ? text.companies.moveMayCreate : text.companies.moveMayNotCreate(by)}</List.Item>;
}

/** Where its people sign in, here and there. */
function SignsIn({ mover, place }: Moved) {
  const { text } = useText();
  const names = (of: readonly { name: string }[]) => of.map(({ name }) => name).join(", ");
  if (mover.own.length > 0) return <List.Item>{text.companies.moveSignsInOwn(names(mover.own))}</List.Item>;
  const [here, there] = [mover.serving, place.serving];
  if (here.length === there.length && here.every(({ id }) => there.some((one) => one.id === id))) {
    return <List.Item>{here.length === 0 ? text.companies.moveSignsInNowhere : text.companies.moveSignsInSame(names(here))}</List.Item>;
  }
  return <List.Item>{there.length === 0 ? text.companies.moveSignsInNoMore(names(here)) : text.companies.moveSignsIn(names(there), names(here))}</List.Item>;
}

/** Who gains it, and who loses it. */
function Reach({ mover, place }: Moved) {
  const { text } = useText();
  const me = useMe();
  const mayRead = me.can("permission.read");
  const { data, error, again } = useAsk(TenantApplication, {}, { pause: !mayRead });
  const tenant = data?.applications.find(({ code }) => code === "tenant")?.id;
  const { gain, lose } = changeOfReach(mover, place);
  const of = (companies: readonly { id: string; name: string }[], title: string, none: string) => (
    <div>
      <Text size="sm" fw={600}>{title}</Text>
      {companies.length === 0 ? <Text size="sm">{none}</Text> : (
        <List size="sm">
          {companies.map((company) => <List.Item key={company.id}>{tenant ? <Who company={company} tenant={tenant} /> : text.companies.reachOf(company.name)}</List.Item>)}
        </List>
      )}
    </div>
  );
  return (
    <>
      <Problem error={error} again={again} />
      {of(gain, text.companies.moveGain, text.companies.moveGainNobody)}
      {of(lose, text.companies.moveLose, text.companies.moveLoseNobody)}
    </>
  );
}

/** How many people may do something in tenant management of a company, the first of them by name. */
function Who({ company: { id, name }, tenant }: { company: { id: string; name: string }; tenant: string }): ReactNode {
  const { text, format } = useText();
  const { data, error, again } = useAsk(WhoReaches, { id, tenant });
  if (error && !data) return <Problem error={error} again={again} />;
  if (!data) return text.companies.reachOf(name);
  const { totalCount, totalCountCapped, nodes } = data.permissions;
  if (totalCount === 0) return text.companies.reachNobody(name);
  const people = nodes.map(({ user, role }) => `${user.name || user.email} (${role.name})`).join(", ");
  return text.companies.reachPeople(totalCount, totalCountCapped ? text.companies.more(format.number(totalCount)) : format.number(totalCount), name, people, totalCount > nodes.length);
}

/** What is limited otherwise there, and what goes along. */
function Limits({ mover, place }: Moved) {
  const { text } = useText();
  const me = useMe();
  // Right below the root the platform's defaults hold, which its own people may read.
  const below = place.level === 0;
  const asks = below && me.customer.level === 0 && me.can("audit.read");
  const { data, error, again } = useAsk(DefaultLimits, {}, { pause: !asks });
  const of = boundsOf(mover, place, data?.operations.defaultLimits);
  const leaves = of.some(({ today }) => today.by === "default");
  return (
    <div>
      <Problem error={error} again={again} />
      {of.length === 0 ? <Text size="sm">{text.companies.moveLimitsSame}</Text> : <Bounds of={of} />}
      {mover.usage.some(({ own }) => own !== null) && <Text size="xs" c="dimmed">{text.companies.moveOwnLimits}</Text>}
      {leaves && <Text size="xs" c="dimmed">{text.companies.moveDefaults}</Text>}
      {below && !asks && <Text size="xs" c="dimmed">{text.companies.moveDefaultsThere}</Text>}
    </div>
  );
}

/** Each limit that is another one there, with what is used of it, and what does not fit. */
function Bounds({ of }: { of: readonly Bound[] }) {
  const { text, format } = useText();
  const whose = (by: Limit["by"]) => (typeof by === "object" ? text.companies.limitOf(by.name) : text.companies.limitBy[by]);
  const told = (name: Bound["name"], { limit, by }: Limit) => {
    if (limit === null) return text.companies.noLimit;
    return `${name === "STORAGE_BYTES" ? format.bytes(limit) : format.number(limit)} (${whose(by)})`;
  };
  return (
    <>
      <Text size="sm" fw={600}>{text.companies.moveLimits}</Text>
      <ScrollArea viewportProps={{ tabIndex: 0, role: "group", "aria-label": text.companies.moveLimits }}>
        <Table fz="sm">
          <Table.Thead>
            <Table.Tr><Table.Th>{text.companies.moveLimit}</Table.Th><Table.Th>{text.companies.moveBrings}</Table.Th><Table.Th>{text.companies.moveToday}</Table.Th><Table.Th>{text.companies.moveThere}</Table.Th></Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {of.map(({ name, brings, today, there, over }) => (
              <Table.Tr key={name}>
                <Table.Th scope="row" fw={400}>{text.companies.limits[name]}</Table.Th>
                <Table.Td>{name === "STORAGE_BYTES" ? format.bytes(brings) : format.number(brings)}</Table.Td>
                <Table.Td>{told(name, today)}</Table.Td>
                <Table.Td>{told(name, there)}{over && <Text size="sm" fw={600}>{text.companies.moveOver}</Text>}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollArea>
    </>
  );
}
