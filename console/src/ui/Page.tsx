import { Group, Title } from "@mantine/core";
import { type ReactNode, useEffect } from "react";

/** The head of a page: its name, which is the tab's, too, and what can be done there. */
export function PageHead({ title, children }: { title: string; children?: ReactNode }) {
  useTitle(title);
  return (
    <Group justify="space-between" gap="xs">
      <Title order={1} size="h3">{title}</Title>
      <Group gap="xs">{children}</Group>
    </Group>
  );
}

/** Names the tab, as long as the component is there. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Canopy`;
  }, [title]);
}
