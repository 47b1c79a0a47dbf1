import { Skeleton, Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import { type Column, DataTable } from "../ui/DataTable";

export interface SectionProps<Row> {
  title: string;
  hint?: ReactNode;
  /** What is said where there are no rows. */
  none: string;
  columns: readonly Column<Row>[];
  /** undefined as long as they are not known. */
  rows: readonly Row[] | undefined;
  /** How much room is kept for the rows until then, in px: what stands below stays where it is. */
  room?: number;
  keyOf: (row: Row, place: number) => string;
  children?: ReactNode;
}

/** One subject of the page: what it is, and a table of it. */
export function Section<Row extends object>({ title, hint, none, columns, rows, room = 22, keyOf, children }: SectionProps<Row>) {
  return (
    <Stack gap="xs" component="section" aria-label={title}>
      <Title order={2} size="h4">{title}</Title>
      {hint && <Text size="sm" c="dimmed">{hint}</Text>}
      {children}
      {!rows ? <Skeleton height={room} /> : rows.length === 0 ? <Text size="sm">{none}</Text> : <DataTable label={title} columns={columns} rows={rows} keyOf={keyOf} />}
    </Stack>
  );
}
