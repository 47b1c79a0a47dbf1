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
        title={text.operations.limits} none={text.operations.noLimits} columns={[text.operations.company, text.operations.limit, text.operations.used, text.operations.state, text.operations.day]}
        rows={nearLimits.map(({ customer, name, reached, used, limit, day }) => ({
          key: `${customer?.id} ${name} ${reached} ${day}`,
          cells: [
            <CompanyLink key="company" company={customer} />, text.companies.limits[name], text.companies.used(write(name)(used), write(name)(limit)),
            reached ? text.operations.reached : text.operations.near, format.date(day),
          ],
        }))}
      />
      <details>
        <summary>{text.operations.defaults}</summary>
        <Text size="sm" c="dimmed" my="xs">{text.operations.defaultsHint}</Text>
        <Facts of={defaultLimits.map(({ name, limit }) => [text.companies.limits[name], write(name)(limit)] as const)} />
      </details>
    </>
  );
}
