import { Alert, Button, Group, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import type { CanopyError } from "canopy-client";
import { useEffect, useRef } from "react";
import { type Text as Words, useText } from "../text";

/** Says what went wrong, in words that help, and lets the person try again where that may do. */
export function Problem({ error, again }: { error: CanopyError | undefined; again?: (() => void) | undefined }) {
  const { text } = useText();
  const shown = useRef<HTMLDivElement>(null);
  // What went wrong is seen, also where the button stands far from it.
  useEffect(() => shown.current?.scrollIntoView({ block: "nearest" }), [error]);
  if (!error) return null;
  return (
    <Alert ref={shown} color="red" icon={<IconAlertTriangle aria-hidden />} role="alert" title={titleOf(error, text)}>
      <Text size="sm">{error.reason === "changed" ? text.ui.overtakenNow : sentence(error.message)}</Text>
      <Group justify="space-between" mt="xs">
        {again && <Button size="xs" variant="default" onClick={again}>{text.ui.tryAgain}</Button>}
        {error.requestId && <Text size="xs" c="dimmed">{text.ui.request(error.requestId)}</Text>}
      </Group>
    </Alert>
  );
}

/** What kind of failure it is, for a person. */
function titleOf({ code, reason, retryAfter }: CanopyError, { ui, problems }: Words): string {
  if (reason === "changed") return ui.overtaken;
  switch (code) {
    case "UNREACHABLE": return problems.unreachable;
    case "UNAVAILABLE": return problems.unavailable;
    case "RATE_LIMITED": return problems.rateLimited(retryAfter);
    case "FORBIDDEN": return problems.forbidden;
    case "NOT_FOUND": return problems.notFound;
    case "UNAUTHENTICATED": return problems.unauthenticated;
    case "PAYLOAD_TOO_LARGE": return problems.tooLarge;
    case "BAD_REQUEST": return problems.badRequest;
    case "INTERNAL": return problems.internal;
  }
}

export function sentence(message: string): string {
  const upper = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(upper) ? upper : `${upper}.`;
}
