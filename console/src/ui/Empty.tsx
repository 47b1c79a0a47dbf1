import { Center, Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";

/** What a list shows that has nothing: why, and the first step. */
export function Empty({ title, hint, action }: { title: string; hint?: string; action?: ReactNode }) {
  return (
    <Center p="xl" className="empty">
      <Stack align="center" gap="xs" maw="28rem">
        <Title order={2} size="h4" ta="center">{title}</Title>
        {hint && <Text c="dimmed" ta="center">{hint}</Text>}
        {action}
      </Stack>
    </Center>
  );
}
