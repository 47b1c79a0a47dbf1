import { Anchor, Breadcrumbs, Button, Group, Skeleton, Stack, Text } from "@mantine/core";
import { IconGauge, IconPlus, IconReceipt, IconRobot, IconUsers } from "@tabler/icons-react";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useAsk } from "../graph/hooks";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { Facts } from "../ui/Facts";
import { Problem } from "../ui/Problem";
import { SidePanel } from "../ui/SidePanel";
import { When } from "../ui/When";
import { Applications } from "./Applications";
import { Company, MayGrow } from "./companies.gql";
import type { Whole } from "./company";
import { Fate } from "./Fate";
import { Settings } from "./Settings";
import { Status } from "./Status";

/** One company. */
export function Details() {
  const { text } = useText();
  const { companyId } = useParams({ from: "/inside/companies/$companyId" });
  const navigate = useNavigate();
  const { data, error, again } = useAsk(Company, { id: companyId });
  const company = data?.customer;
  return (
    <SidePanel key={companyId} title={company?.name ?? text.companies.one} close={() => navigate({ to: "/companies", search: true })}>
      <Stack>
        <Problem error={error} again={again} />
        {company ? <Shown key={company.id} company={company} /> : !error && <Skeleton height={200} />}
      </Stack>
    </SidePanel>
  );
}

function Shown({ company }: { company: Whole }) {
  const { text, format } = useText();
  const me = useMe();
  // Whose company may have others below it can create them anywhere within reach.
  const { data: own } = useAsk(MayGrow, { id: me.customer.id });
  const { totalCount, totalCountCapped } = company.children;
  const id = String(company.databaseId);
  // What is to be erased stays as it is.
  const deleted = company.effectiveStatus === "DELETED";
  return (
    <>
      <Way company={company} />
      <Facts of={[
        [text.companies.status, company.effectiveStatus !== company.status
          ? text.companies.byAncestor(text.companies.statuses[company.effectiveStatus])
          : <Status key="status" status={company.status} always />],
        [text.companies.region, company.region.name],
        [text.companies.belowCount, totalCountCapped ? text.companies.more(format.number(totalCount)) : format.number(totalCount)],
        [text.companies.since, <When key="since" at={company.createdAt} />],
        [text.companies.id, company.databaseId],
      ]} />
      <Group gap="xs">
        {me.can("user.read") && (
          <Button component={Link} to={`/people?company=${id}`} variant="default" leftSection={<IconUsers size={16} aria-hidden />}>{text.companies.showPeople}</Button>
        )}
        {me.can("agent.read") && (
          <Button component={Link} to={`/agents?company=${id}`} variant="default" leftSection={<IconRobot size={16} aria-hidden />}>{text.companies.showAgents}</Button>
        )}
        {me.can("company.create") && !deleted && own?.customer?.effectiveCanAddCustomers && (
          <Button component={Link} to={`/companies/${id}/new`} variant="default" leftSection={<IconPlus size={16} aria-hidden />}>{text.companies.create}</Button>
        )}
        <Button component={Link} to={`/companies/${id}/usage`} variant="default" leftSection={<IconGauge size={16} aria-hidden />}>{text.companies.usage}</Button>
        {me.can("billing.read") && (
          <Button component={Link} to={`/companies/${id}/billing`} variant="default" leftSection={<IconReceipt size={16} aria-hidden />}>{text.companies.billing}</Button>
        )}
      </Group>
      {me.can("company.write") && company.databaseId !== me.customer.databaseId && <Fate company={company} />}
      {me.can("permission.read") && !deleted && <Applications company={company} />}
      {me.can("company.write") && !deleted ? <Settings company={company} /> : <Flags company={company} />}
    </>
  );
}

/** Where the company is, root first; those beyond reach are names alone. */
function Way({ company }: { company: Whole }) {
  return (
    <Breadcrumbs separatorMargin={6}>
      {[...company.ancestors.map(({ id, databaseId, name, customer }) => (
        customer
          ? <Anchor key={id} component={Link} to={`/companies/${databaseId}`} size="sm">{name}</Anchor>
          : <Text key={id} size="sm" c="dimmed">{name}</Text>
      )), <Text key="self" size="sm">{company.name}</Text>]}
    </Breadcrumbs>
  );
}

/** The company's flags for those who can't change them. */
function Flags({ company }: { company: Whole }) {
  const { text } = useText();
  const word = (on: boolean) => (on ? text.ui.yes : text.ui.no);
  return (
    <Facts of={[
      [text.companies.canAdd, company.canAddCustomers && !company.effectiveCanAddCustomers ? text.companies.notEffective : word(company.canAddCustomers)],
      [text.companies.below, word(company.descendantsCanAdd)],
    ]} />
  );
}
