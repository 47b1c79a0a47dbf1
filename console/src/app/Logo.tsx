import { Group, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";

/** The platform's sign, which leads home. */
export function Logo() {
  return (
    <Group component="span" gap={8} wrap="nowrap" visibleFrom="xs">
      <Text component={Link} to="/" fw={700} c="var(--mantine-color-text)" td="none">Canopy</Text>
    </Group>
  );
}
