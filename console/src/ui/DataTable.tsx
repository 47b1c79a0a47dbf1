import { ScrollArea, Table, UnstyledButton } from "@mantine/core";
import "@mantine/core/styles/Table.css";
import { IconArrowDown, IconArrowsSort, IconArrowUp } from "@tabler/icons-react";
import { createColumnHelper, createSortedRowModel, rowSortingFeature, tableFeatures, useTable } from "@tanstack/react-table";
import { type ReactNode, useMemo } from "react";
import { useText } from "../text";

export interface Column<Row> {
  title: string;
  cell: (row: Row) => ReactNode;
  /** What rows are ordered by, where one chooses the column; those without it come last. Without it the column can't be chosen. */
  by?: (row: Row) => string | number | null | undefined;
}

export interface DataTableProps<Row> {
  /** What a screen reader calls the table. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row, place: number) => string;
}

const features = tableFeatures({ rowSortingFeature, sortedRowModel: createSortedRowModel() });

/** A table of rows that are all there, in the order that they come in or that of a column. Lists of any length are `Rows`. */
export function DataTable<Row extends object>({ label, columns, rows, keyOf }: DataTableProps<Row>) {
  const { text, language } = useText();
  const defined = useMemo(() => {
    const { compare } = new Intl.Collator(language, { numeric: true });
    const helper = createColumnHelper<typeof features, Row>();
    return columns.map(({ by }, place) => helper.accessor((row): unknown => by?.(row) ?? undefined, {
      id: String(place), enableSorting: by !== undefined, sortUndefined: "last",
      sortFn: (a, b, id) => {
        const [one, other] = [a.getValue<string | number>(id), b.getValue<string | number>(id)];
        return typeof one === "number" && typeof other === "number" ? one - other : compare(String(one), String(other));
      },
    }));
  }, [columns, language]);
  const data = useMemo(() => [...rows], [rows]);
  const table = useTable({ features, columns: defined, data, getRowId: keyOf });
  return (
    <ScrollArea viewportProps={{ tabIndex: 0, role: "group", "aria-label": label }}>
      <Table withTableBorder miw={columns.length > 2 ? "32rem" : undefined}>
        <Table.Thead>
          <Table.Tr>
            {table.getFlatHeaders().map(({ id, column }) => {
              const { title } = columns[Number(id)]!;
              if (!column.getCanSort()) return <Table.Th key={id} scope="col">{title}</Table.Th>;
              const order = column.getIsSorted();
              const Sign = order === "asc" ? IconArrowUp : order === "desc" ? IconArrowDown : IconArrowsSort;
              return (
                <Table.Th key={id} scope="col" aria-sort={order === "asc" ? "ascending" : order === "desc" ? "descending" : "none"}>
                  <UnstyledButton fw="inherit" fz="inherit" title={text.ui.orderBy(title)} onClick={() => column.toggleSorting()}>
                    {title} <Sign size={14} aria-hidden style={{ verticalAlign: "middle" }} />
                  </UnstyledButton>
                </Table.Th>
              );
            })}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {table.getRowModel().rows.map(({ id, original }) => (
            <Table.Tr key={id}>{columns.map(({ title, cell }) => <Table.Td key={title}>{cell(original)}</Table.Td>)}</Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollArea>
  );
}
