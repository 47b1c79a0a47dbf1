import { Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import { type Column, DataTable } from "../ui/DataTable";

export interface SectionProps<Row> {
  title: string;
  hint?: ReactNode;
  /** What is said where there are no rows. */
  none: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row, place: number) => string;
  children?: ReactNode;
}

/** One subject of the page: what it is, and a table of it. */
export function Section<Row extends object>({ title, hint, none, columns, rows, keyOf, children }: SectionProps<Row>) {
  return (
    <Stack gap="xs" component="section" aria-label={title}>
      <Title order={2} size="h4">{title}</Title>
      {hint && <Text size="sm" c="dimmed">{hint}</Text>}
      {children}
      {rows.length === 0 ? <Text size="sm">{none}</Text> : <DataTable label={title} columns={columns} rows={rows} keyOf={keyOf} />}
    </Stack>
  );
}
