import { Alert, Button, Group, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import type { CanopyError } from "canopy-client";
import { useEffect, useRef } from "react";
import { type Text as Words, useText } from "../text";

const every = 10_000; // ms
const number = /\d+(\.\d+)?/g;

interface ProblemProps {
  error: CanopyError | undefined;
  again?: (() => void) | undefined;
  /** Tries again once the platform can be reached, too. */
  byItself?: boolean;
}

/** Says what went wrong, in words that help, and lets the person try again where that may do. */
export function Problem({ error, again, byItself = true }: ProblemProps) {
  const { text } = useText();
  const shown = useRef<HTMLDivElement>(null);
  // What went wrong is seen, also where the button stands far from it.
  useEffect(() => shown.current?.scrollIntoView({ block: "nearest" }), [error]);
  // What could not be read comes by itself once the platform is there again.
  const comes = error?.code === "UNREACHABLE" && byItself ? again : undefined;
  useEffect(() => {
    if (!comes) return;
    const timer = setInterval(comes, every);
    addEventListener("online", comes);
    return () => {
      clearInterval(timer);
      removeEventListener("online", comes);
    };
  }, [comes]);
  if (!error) return null;
  const why = comes ? text.problems.comesBack : whyOf(error, text);
  return (
    <Alert ref={shown} color="red" icon={<IconAlertTriangle aria-hidden />} role="alert" title={titleOf(error, text)}>
      <Text size="sm">{why ?? sentence(error.message)}</Text>
      {error.reason && text.reasons[error.reason] && <Text size="xs" lang="en">{sentence(error.message)}</Text>}
      <Group justify="space-between" mt="xs">
        {again && <Button size="xs" variant="default" onClick={again}>{text.ui.tryAgain}</Button>}
        {error.requestId && <Text size="xs" c="dimmed">{text.ui.request(error.requestId)}</Text>}
      </Group>
    </Alert>
  );
}

/** What went wrong, in the person's language; undefined where the platform's own words are all that is known. */
export function whyOf(error: CanopyError, text: Words): string | undefined {
  if (error.reason === "changed") return text.ui.overtakenNow;
  const said = text.reasons[error.reason ?? ""];
  if (said !== undefined) return said;
  const faults = error.faults.map(({ message }) => faultIn(text, message));
  if (faults.length === 0 || faults.includes(undefined)) return undefined;
  return error.faults.map(({ location }, n) => sentence(location ? `${location.split(".").at(-1)!}: ${faults[n]!}` : faults[n]!)).join(" ");
}

/** What is wrong with a field, in the person's language: the numbers of the platform's sentence are put into it. */
export function faultIn({ faults }: Words, message: string): string | undefined {
  const numbers = message.match(number) ?? [];
  return faults[message.replace(number, "#")]?.replace(/#/g, () => numbers.shift() ?? "");
}

/** Why one of many was refused, in the person's language where there are words for it. */
export function refusalIn(text: Words, { code, message }: { code: string; message: string }): string {
  return text.reasons[code] ?? faultIn(text, message.slice(message.indexOf(": ") + 1).trim()) ?? message;
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
