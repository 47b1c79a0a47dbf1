import { Text } from "@mantine/core";
import { useText } from "../text";
import { Facts } from "../ui/Facts";
import { CompanyLink } from "./CompanyLink";
import type { OperationsResult } from "./operations.gql";
import { Section } from "./Section";

/** Limits that companies came near or reached, and what they may have where nothing else is said. */
export function Limits({ known: { nearLimits, defaultLimits } }: { known: Pick<OperationsResult["operations"], "nearLimits" | "defaultLimits"> }) {
  const { text, format } = useText();
  const write = (name: string) => (name === "STORAGE_BYTES" ? format.bytes : format.number);
  return (
    <>
      <Section
        title={text.operations.limits} none={text.operations.noLimits} rows={nearLimits} keyOf={({ customer, name, reached, day }) => `${customer?.id} ${name} ${reached} ${day}`}
        columns={[
          { title: text.operations.company, by: ({ customer }) => customer?.name, cell: ({ customer }) => <CompanyLink company={customer} /> },
          { title: text.operations.limit, by: ({ name }) => text.companies.limits[name], cell: ({ name }) => text.companies.limits[name] },
          { title: text.operations.used, by: ({ used, limit }) => (limit === 0 ? 1 : used / limit), cell: ({ name, used, limit }) => text.companies.used(write(name)(used), write(name)(limit)) },
          { title: text.operations.state, by: ({ reached }) => Number(reached), cell: ({ reached }) => (reached ? text.operations.reached : text.operations.near) },
          { title: text.operations.day, by: ({ day }) => day, cell: ({ day }) => format.date(day) },
        ]}
      />
      <details>
        <summary>{text.operations.defaults}</summary>
        <Text size="sm" c="dimmed" my="xs">{text.operations.defaultsHint}</Text>
        <Facts of={defaultLimits.map(({ name, limit }) => [text.companies.limits[name], write(name)(limit)] as const)} />
      </details>
    </>
  );
}
