import { NativeSelect } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { usePolled } from "../graph/usePolled";
import { useText } from "../text";
import { Chart } from "../ui/Chart";
import { Problem } from "../ui/Problem";
import { CompanyLink } from "./CompanyLink";
import { Busiest as Ask } from "./operations.gql";
import { measures, type OperationsSearch } from "./address";
import { Section } from "./Section";

/** The companies right below the root, by what they have or do most of. */
export function Busiest() {
  const { text, format } = useText();
  const navigate = useNavigate();
  const { by = measures[0] }: OperationsSearch = useSearch({ from: "/inside/operations" });
  const { data, error, again } = usePolled(Ask, { by });
  const write = by === "STORAGE_BYTES" ? format.bytes : format.number;
  const rows = useMemo(() => (data?.operations.busiest ?? []).flatMap(({ usage, ...company }, place) => {
    if (!usage) return [];
    const now = usage.find(({ name }) => name === by);
    return { company, place: place + 1, used: now?.used ?? 0, limit: now?.limit ?? null };
  }), [data, by]);
  const series = useMemo(() => [{ name: text.companies.limits[by], of: ({ used }: { used: number }) => used }], [text, by]);
  return (
    <Section
      title={text.operations.busiest} none={text.operations.noneBusy} hint={text.operations.busiestHint} rows={data || error ? rows : undefined} room={440} keyOf={({ company }) => company.id}
      columns={[
        { title: text.operations.place, by: ({ place }) => place, cell: ({ place }) => place },
        { title: text.operations.company, by: ({ company }) => company.name, cell: ({ company }) => <CompanyLink company={company} /> },
        { title: text.companies.limits[by], by: ({ used }) => used, cell: ({ used }) => write(used) },
        { title: text.operations.limit, by: ({ limit }) => limit, cell: ({ limit }) => (limit === null ? text.companies.noLimit : write(limit)) },
      ]}
    >
      <Problem error={error} again={again} />
      <NativeSelect
        aria-label={text.operations.by} value={by} maw="18rem" data={measures.map((value) => ({ value, label: text.companies.limits[value] }))}
        onChange={({ currentTarget: { value } }) => navigate({ to: "/operations", search: { by: measures.find((one) => one === value) }, replace: true, resetScroll: false })}
      />
      {rows.length > 1 && <Chart label={text.operations.drawnByPlace(text.companies.limits[by])} rows={rows} series={series} write={write} bars />}
    </Section>
  );
}
