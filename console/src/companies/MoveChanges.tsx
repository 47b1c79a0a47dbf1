import { List, ScrollArea, Stack, Table, Text, Title } from "@mantine/core";
import "@mantine/core/styles/Table.css";
import { useAsk } from "../graph/hooks";
import { useMe } from "../session/rights";
import { type Text as Words, useText } from "../text";
import { Problem } from "../ui/Problem";
import { DefaultLimits } from "./companies.gql";
import { type Bound, boundsOf, changeOfReach, type Limit, mayCreate, type Mover, type Place } from "./place";
import type { Reach, Reacher } from "./reach";

interface Moved {
  mover: Mover;
  place: Place;
  /** Undefined where the caller may not know who reaches what. */
  reach: Reach | undefined;
  limits: ReturnType<typeof useBounds>;
}

/** What will be otherwise for a company at another place, and what stays as it is. */
export function MoveChanges({ mover, place, reach, limits }: Moved) {
  const { text, format } = useText();
  const { totalCount, totalCountCapped } = mover.descendants;
  const below = totalCountCapped ? text.companies.more(format.number(totalCount)) : format.number(totalCount);
  const creates = changeOfCreating(text, mover, place);
  const signsIn = changeOfSigningIn(text, mover, place);
  const companies = changeOfReach(mover, place);
  const sameReach = reach ? reach.known && reach.gain.people.length + reach.lose.people.length === 0 : companies.gain.length + companies.lose.length === 0;
  const { stays } = text.companies;
  const same = [
    stays.region(mover.region.name), ...(creates ? [] : [stays.creates]), ...(signsIn ? [] : [stays.signsIn]), ...(sameReach ? [stays.reach] : []), ...(limits.known && limits.of.length === 0 ? [stays.limits] : []),
  ];
  return (
    <Stack gap="sm" component="section" aria-label={text.companies.moveChange}>
      <Title order={3} size="h5">{text.companies.moveChange}</Title>
      <List size="sm">
        <List.Item>{text.companies.movePath} {place.path}/{mover.name}</List.Item>
        {totalCount > 0 && <List.Item>{text.companies.moveAlong(totalCount, below)}</List.Item>}
        {creates && <List.Item>{creates}</List.Item>}
        {signsIn && <List.Item>{signsIn}</List.Item>}
      </List>
      <Problem error={reach?.error} again={reach?.again} />
      {reach ? (
        <>
          <People title={text.companies.moveGain} of={reach.gain.people} more={reach.gain.more} />
          <People title={text.companies.moveLose} of={reach.lose.people} more={reach.lose.more} />
        </>
      ) : (
        <>
          <Reachers title={text.companies.moveGain} of={companies.gain} />
          <Reachers title={text.companies.moveLose} of={companies.lose} />
        </>
      )}
      <Limits mover={mover} {...limits} />
      <Text size="sm" c="dimmed">{text.companies.moveStays(new Intl.ListFormat(document.documentElement.lang).format(same))}</Text>
    </Stack>
  );
}

/** What changes of whether it may create companies, in words; nothing where that stays. */
function changeOfCreating({ companies }: Words, mover: Mover, place: Place): string | undefined {
  const { may, by } = mayCreate(mover, place);
  if (may === mover.effectiveCanAddCustomers) return undefined;
  return may ? companies.moveMayCreate : companies.moveMayNotCreate(by);
}

/** What changes of where its people sign in, in words; nothing where that stays. */
function changeOfSigningIn({ companies }: Words, mover: Mover, place: Place): string | undefined {
  const names = (of: readonly { name: string }[]) => of.map(({ name }) => name).join(", ");
  const [here, there] = [mover.serving, place.serving];
  if (mover.own.length > 0 || (here.length === there.length && here.every(({ id }) => there.some((one) => one.id === id)))) return undefined;
  return there.length === 0 ? companies.moveSignsInNoMore(names(here)) : companies.moveSignsIn(names(there), names(here));
}

// So many are named; of the others it is said how many they are.
const named = 5;

/** Who gains or loses it, by the role that is why. */
function People({ title, of, more }: { title: string; of: readonly Reacher[]; more: boolean }) {
  const { text, format } = useText();
  if (of.length === 0) return null;
  const rest = format.number(of.length - named);
  return (
    <div>
      <Text size="sm" fw={600}>{title}</Text>
      <List size="sm">
        {of.slice(0, named).map(({ id, user, role, account }) => <List.Item key={id}>{text.companies.reacher(user.name || user.email, role.name, account.customer.name)}</List.Item>)}
        {(of.length > named || more) && <List.Item>{text.companies.reachMore(more ? text.companies.more(rest) : rest)}</List.Item>}
      </List>
    </div>
  );
}

/** The companies whose people gain or lose it, for those who may not see who that is. */
function Reachers({ title, of }: { title: string; of: readonly { id: string; name: string }[] }) {
  const { text } = useText();
  if (of.length === 0) return null;
  return (
    <div>
      <Text size="sm" fw={600}>{title}</Text>
      <List size="sm">{of.map(({ id, name }) => <List.Item key={id}>{text.companies.reachOf(name)}</List.Item>)}</List>
    </div>
  );
}

/** What is limited otherwise there. Right below the root the platform's defaults hold, which its own people may read. */
export function useBounds(mover: Mover, place: Place) {
  const me = useMe();
  const below = place.level === 0;
  const asks = below && me.customer.level === 0 && me.can("audit.read");
  const { data, error, again } = useAsk(DefaultLimits, {}, { pause: !asks });
  const known = mover.usage !== null && place.usage !== null;
  return { of: boundsOf(mover, place, data?.operations.defaultLimits), known, noDefaults: below && !asks, error, again };
}

/** What is limited otherwise there, and what goes along. */
function Limits({ mover, of, noDefaults, error, again }: { mover: Mover } & ReturnType<typeof useBounds>) {
  const { text } = useText();
  return (
    <div>
      <Problem error={error} again={again} />
      {of.length > 0 && <Bounds of={of} />}
      {of.length > 0 && mover.usage?.some(({ own }) => own !== null) && <Text size="xs" c="dimmed">{text.companies.moveOwnLimits}</Text>}
      {of.some(({ today }) => today.by === "default") && <Text size="xs" c="dimmed">{text.companies.moveDefaults}</Text>}
      {noDefaults && <Text size="xs" c="dimmed">{text.companies.moveDefaultsThere}</Text>}
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
