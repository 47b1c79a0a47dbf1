import { NativeSelect } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useText } from "../text";
import { Problem } from "../ui/Problem";
import { CompanyLink } from "./CompanyLink";
import { Busiest as Ask } from "./operations.gql";
import { measures, type OperationsSearch } from "./address";
import { Section } from "./Section";
import { useKept } from "./useKept";

/** The companies right below the root, by what they have or do most of. */
export function Busiest() {
  const { text, format } = useText();
  const navigate = useNavigate();
  const { by = measures[0] }: OperationsSearch = useSearch({ from: "/inside/operations" });
  const { data, error, again } = useKept(Ask, { by });
  const write = by === "STORAGE_BYTES" ? format.bytes : format.number;
  return (
    <Section
      title={text.operations.busiest} none={data ? text.operations.noneBusy : ""} hint={text.operations.busiestHint}
      columns={[text.operations.company, text.companies.limits[by], text.operations.limit]}
      rows={(data?.operations.busiest ?? []).map((company) => {
        const usage = company.usage.find(({ name }) => name === by);
        return { key: company.id, cells: [<CompanyLink key="company" company={company} />, write(usage?.used ?? 0), usage?.limit == null ? text.companies.noLimit : write(usage.limit)] };
      })}
    >
      <Problem error={error} again={again} />
      <NativeSelect
        aria-label={text.operations.by} value={by} maw="18rem" data={measures.map((value) => ({ value, label: text.companies.limits[value] }))}
        onChange={({ currentTarget: { value } }) => navigate({ to: "/operations", search: { by: measures.find((one) => one === value) }, replace: true, resetScroll: false })}
      />
    </Section>
  );
}
