import { ScrollArea, Stack, Table, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";

export interface SectionProps {
  title: string;
  hint?: ReactNode;
  /** What is said where there are no rows. */
  none: string;
  columns: readonly string[];
  rows: readonly { key: string; cells: readonly ReactNode[] }[];
  children?: ReactNode;
}

/** One subject of the page: what it is, and a table of it. */
export function Section({ title, hint, none, columns, rows, children }: SectionProps) {
  return (
    <Stack gap="xs" component="section" aria-label={title}>
      <Title order={2} size="h4">{title}</Title>
      {hint && <Text size="sm" c="dimmed">{hint}</Text>}
      {children}
      {rows.length === 0 ? <Text size="sm">{none}</Text> : (
        <ScrollArea viewportProps={{ tabIndex: 0, role: "group", "aria-label": title }}>
          <Table withTableBorder miw="32rem">
            <Table.Thead><Table.Tr>{columns.map((name) => <Table.Th key={name} scope="col">{name}</Table.Th>)}</Table.Tr></Table.Thead>
            <Table.Tbody>{rows.map(({ key, cells }) => <Table.Tr key={key}>{cells.map((cell, place) => <Table.Td key={columns[place]}>{cell}</Table.Td>)}</Table.Tr>)}</Table.Tbody>
          </Table>
        </ScrollArea>
      )}
    </Stack>
  );
}
