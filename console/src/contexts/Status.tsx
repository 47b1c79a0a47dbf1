import { Badge, Progress } from "@mantine/core";
import { IconAlertTriangle, IconCheck, IconClock } from "@tabler/icons-react";
import type { DocumentRow } from "./contexts.gql";
import { useText } from "../text";

/** How far a document is on its way to being found. */
export function Status({ of: { status, progress, displayName } }: { of: DocumentRow }) {
  const { text } = useText();
  if (status === "processing") {
    const percent = Math.round(progress * 100);
    return (
      <span className="reading">
        <span>{text.contexts.reading(percent)}</span>
        <Progress value={percent} size="sm" aria-label={text.contexts.readingOf(displayName)} />
      </span>
    );
  }
  const [color, Icon] = ({ pending: ["gray", IconClock], ready: ["canopy", IconCheck], failed: ["red", IconAlertTriangle] } as const)[status];
  return <Badge variant="light" color={color} flex="none" leftSection={<Icon size={12} aria-hidden />}>{text.contexts.statuses[status]}</Badge>;
}
