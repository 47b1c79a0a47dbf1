import { Center, Paper, Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import { useTitle } from "../ui/Page";

/** The frame of the screens before one has signed in. */
export function Outside({ title, hint, children }: { title: string; hint?: string | undefined; children: ReactNode }) {
  useTitle(title);
  return (
    <Center mih="100dvh" p="md" component="main">
      <Paper withBorder p="xl" w="24rem" maw="100%">
        <Stack>
          <Text fw={700} c="var(--mantine-color-anchor)">Canopy</Text>
          <Title order={1} size="h3">{title}</Title>
          {hint && <Text size="sm" c="dimmed">{hint}</Text>}
          {children}
        </Stack>
      </Paper>
    </Center>
  );
}
