import { Alert, List, NativeSelect, Skeleton, Stack, Text, Title } from "@mantine/core";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { entriesFor } from "../app/areas";
import { useAsk } from "../graph/hooks";
import { RightNames } from "../session/RightNames";
import { type Granted, has, rights } from "../session/rights";
import { useText } from "../text";
import { Problem } from "../ui/Problem";
import { SidePanel } from "../ui/SidePanel";
import { Rights as Ask, type RightsResult } from "./people.gql";

type Permission = NonNullable<RightsResult["user"]>["permissions"]["nodes"][number];

/** What somebody would see and could do, signed in to a company: worked out from their permissions. Nobody acts as them. */
export function Preview() {
  const { text } = useText();
  const { personId } = useParams({ from: "/inside/people/$personId/preview" });
  const navigate = useNavigate();
  const { data, error, again } = useAsk(Ask, { id: personId });
  const [chosen, setChosen] = useState<string>();
  const permissions = data?.user?.permissions.nodes ?? [];
  const companies = new Map(permissions.map(({ account: { customer } }) => [String(customer.databaseId), customer]));
  const company = companies.get(chosen ?? "") ?? [...companies.values()][0];
  return (
    <SidePanel title={data?.user ? text.people.asSeenBy(data.user.name || data.user.email) : text.people.asTheySee} close={() => navigate({ to: "/people/$personId", params: { personId }, search: true })}>
      <Stack>
        <Problem error={error} again={again} />
        {!data && !error && <Skeleton height={200} />}
        {data && <Text size="sm" c="dimmed">{text.people.previewHint}</Text>}
        {data && !company && <Alert>{text.people.nothing}</Alert>}
        {company && (
          <>
            <NativeSelect
              label={text.people.signedInTo} value={String(company.databaseId)} data={[...companies].map(([value, { name }]) => ({ value, label: name }))}
              onChange={({ currentTarget: { value } }) => setChosen(value)}
            />
            <Seen as={{ customer: company, grants: grantsIn(company.databaseId, permissions) }} />
          </>
        )}
      </Stack>
    </SidePanel>
  );
}

/** The grants of a token for a company: of permissions that count. */
function grantsIn(companyId: number, permissions: readonly Permission[]): Granted["grants"] {
  return permissions
    .filter(({ disabled, account }) => !disabled && !account.disabled && account.customer.databaseId === companyId)
    .map(({ application, role }) => ({ application: application.code, features: role.features }));
}

function Seen({ as }: { as: Granted }) {
  const { text } = useText();
  const may = rights.filter((right) => has(as, right));
  const pages = entriesFor(as);
  return (
    <>
      <Title order={3} size="h5">{text.people.theirPages}</Title>
      {pages.length === 0 ? <Text size="sm">{text.people.noPages}</Text> : <List size="sm">{[text.app.home, ...pages.map(({ label }) => label(text))].map((page) => <List.Item key={page}>{page}</List.Item>)}</List>}
      <Title order={3} size="h5">{text.people.theyMay}</Title>
      <RightNames of={may} label={text.people.theyMay} />
      <Title order={3} size="h5">{text.people.theyMayNot}</Title>
      <RightNames of={rights.filter((right) => !may.includes(right))} label={text.people.theyMayNot} />
    </>
  );
}
