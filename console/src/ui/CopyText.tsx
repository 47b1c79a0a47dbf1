import { Button } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { IconCheck, IconCopy } from "@tabler/icons-react";
import { useText } from "../text";

/** Copies a text, and says so. */
export function CopyText({ value, label }: { value: string; label?: string }) {
  const { text } = useText();
  const { copy, copied } = useClipboard();
  const Icon = copied ? IconCheck : IconCopy;
  return (
    <Button variant="default" size="xs" flex="none" leftSection={<Icon size={14} aria-hidden />} onClick={() => copy(value)} aria-live="polite">
      {copied ? text.ui.copied : (label ?? text.ui.copy)}
    </Button>
  );
}
