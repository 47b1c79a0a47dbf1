import { Alert, Button, Code, Group, Stack, Text } from "@mantine/core";
import { IconKey } from "@tabler/icons-react";
import { type ReactNode, useEffect, useRef } from "react";
import { CopyText } from "./CopyText";
import { useShownOnce } from "./useShownOnce";

export interface ShownOnceProps {
  title: string;
  /** What it is for, and that it is shown this once. */
  hint: ReactNode;
  /** What is to be copied: its name, the value, and what the button is called that copies it. */
  values: readonly (readonly [name: string, value: string, copy?: string])[];
  /** What a person says who has kept it, and where that leads. */
  kept: string;
  done: () => void;
}

/** A secret, which is shown this once. */
export function ShownOnce({ title, hint, values, kept, done }: ShownOnceProps) {
  const keep = useShownOnce(done);
  const place = useRef<HTMLDivElement>(null);
  // The form that it stands in place of had the focus: who works by keyboard goes on here.
  useEffect(() => place.current?.focus({ preventScroll: true }), []);
  return (
    <Stack>
      <Alert ref={place} tabIndex={-1} icon={<IconKey aria-hidden />} title={title} role="status">
        <Stack gap="xs">
          <Text size="sm">{hint}</Text>
          {values.map(([name, value, copy]) => (
            <div key={name}>
              <Text size="sm">{name}</Text>
              <Group gap="xs"><Code style={{ overflowWrap: "anywhere" }}>{value}</Code><CopyText value={value} {...(copy ? { label: copy } : {})} /></Group>
            </div>
          ))}
        </Stack>
      </Alert>
      <Group><Button onClick={keep}>{kept}</Button></Group>
    </Stack>
  );
}
