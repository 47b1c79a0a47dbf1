import { Badge, Button, Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import { useAsk, useChange } from "../graph/hooks";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { applicationName } from "../text/applicationName";
import { Problem } from "../ui/Problem";
import { useNotices } from "../ui/useNotices";
import { Accounts, type AccountsResult, SetAccountDisabled } from "./companies.gql";

type Account = NonNullable<AccountsResult["customer"]>["accounts"]["nodes"][number];

/** The applications that a company has, and which of them are turned off for everybody. */
export function Applications({ company }: { company: { id: string; name: string } }) {
  const { text } = useText();
  const { data, error, again } = useAsk(Accounts, { id: company.id });
  return (
    <Stack gap="xs" component="section" aria-label={text.companies.applications}>
      <Title order={3} size="h5">{text.companies.applications}</Title>
      <Problem error={error} again={again} />
      {!data && !error && <Skeleton height={98} />}
      {data?.customer?.accounts.nodes.map((account) => <One key={account.id} account={account} company={company.name} />)}
    </Stack>
  );
}

function One({ account: { id, databaseId, disabled, application }, company }: { account: Account; company: string }) {
  const { text } = useText();
  const me = useMe();
  const name = applicationName(text, application);
  const set = useChange(SetAccountDisabled);
  const { attempt, offer } = useNotices();
  const turn = async () => {
    const said = disabled ? text.companies.turnedOn : text.companies.turnedOff;
    if (await attempt(() => set({ input: { id, disabled: !disabled } }))) offer(said(name, company), () => set({ input: { id, disabled } }));
  };
  // Who would turn off what they act by could not turn it on again.
  const mayTurn = me.can("company.write") && !me.grants.some(({ accountId }) => accountId === databaseId);
  return (
    <Group gap="xs">
      <Text size="sm">{name}</Text>
      {disabled && <Badge variant="light" color="gray" tt="none">{text.companies.isOff}</Badge>}
      {mayTurn && (
        <Button size="compact-sm" variant="default" aria-label={`${disabled ? text.companies.turnOn : text.companies.turnOff}: ${name}`} onClick={() => void turn()}>
          {disabled ? text.companies.turnOn : text.companies.turnOff}
        </Button>
      )}
    </Group>
  );
}
