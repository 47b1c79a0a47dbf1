import { Alert, Button, Group, Progress, Stack, Text } from "@mantine/core";
import { IconUpload } from "@tabler/icons-react";
import type { CanopyError } from "canopy-client";
import { useEffect, useSyncExternalStore } from "react";
import { type Text as Words, useText } from "../text";
import { sentence } from "../ui/Problem";
import { type Sending, uploadsInto } from "./uploads";

// A folder may hold thousands: so many of them are shown.
const mostRefused = 5;

/** The files on their way: how far each is, and why one was not taken. Those that were taken are documents of the list. */
export function UploadPanel({ contextId }: { contextId: string }) {
  const { text, format } = useText();
  const uploads = uploadsInto(contextId);
  useSyncExternalStore(uploads.subscribe, uploads.version);
  // Who leaves the page has seen what was sent.
  useEffect(() => () => void (uploads.files.length === 0 && uploads.clear()), [uploads]);
  const { files, taken, leftOut, pausedUntil } = uploads;
  const sending = files.filter(({ state }) => state === "sending");
  const waiting = files.filter(({ state }) => state === "waiting");
  const refused = files.filter(({ state }) => state === "refused");
  if (files.length + taken + leftOut.length === 0) return null;
  const seconds = Math.ceil((pausedUntil - Date.now()) / 1000);
  const all = files.length + taken;
  return (
    <section className="uploads" aria-label={text.contexts.uploads}>
      <Group justify="space-between" wrap="nowrap">
        <Group gap="xs" wrap="nowrap"><IconUpload size={16} aria-hidden /><Text size="sm" role="status">{text.contexts.taken(format.number(taken), format.number(all))}</Text></Group>
        {uploads.busy
          ? waiting.length > 0 && <Button size="compact-sm" variant="default" onClick={() => uploads.drop()}>{text.contexts.stop}</Button>
          : refused.length === 0 && <Button size="compact-sm" variant="default" onClick={() => uploads.clear()}>{text.contexts.dismiss}</Button>}
      </Group>
      {sending.map((one) => <OnTheWay key={one.id} one={one} />)}
      {waiting.length > 0 && (
        <Text size="sm" c="dimmed">{seconds > 0 ? text.contexts.paused(format.number(waiting.length), seconds) : text.contexts.waiting(waiting.length, format.number(waiting.length))}</Text>
      )}
      {refused.length > 0 && (
        <Alert color="red" role="alert" title={text.contexts.refused(refused.length, format.number(refused.length))}>
          <Stack gap="xs">
            {refused.slice(0, mostRefused).map(({ id, file, error }) => (
              <Group key={id} justify="space-between" gap="xs">
                <Text size="sm" flex="1 1 14rem"><strong>{file.name}</strong>: {reasonOf(error!, text)}</Text>
                <Button size="compact-sm" variant="default" aria-label={text.contexts.againFor(file.name)} onClick={() => uploads.again(id)}>{text.ui.tryAgain}</Button>
              </Group>
            ))}
            {refused.length > mostRefused && <Text size="sm">{text.contexts.andMore(format.number(refused.length - mostRefused))}</Text>}
            <Group gap="xs">
              {refused.length > 1 && <Button size="compact-sm" variant="default" onClick={() => uploads.again()}>{text.contexts.allAgain}</Button>}
              <Button size="compact-sm" variant="default" onClick={() => uploads.drop()}>{text.contexts.dismiss}</Button>
            </Group>
          </Stack>
        </Alert>
      )}
      {leftOut.length > 0 && <Text size="sm" role="status">{text.contexts.leftOut(leftOut.slice(0, 5).join(", "), leftOut.length > 5 ? format.number(leftOut.length - 5) : "")}</Text>}
    </section>
  );
}

function OnTheWay({ one: { file, sent } }: { one: Sending }) {
  const { text, format } = useText();
  const percent = Math.round(sent * 100);
  return (
    <div>
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Text size="sm" truncate>{file.name}</Text>
        <Text size="sm" c="dimmed" flex="none">{format.bytes(file.size * sent)} / {format.bytes(file.size)}</Text>
      </Group>
      <Progress value={percent} size="sm" aria-label={text.contexts.sendingOf(file.name)} />
    </div>
  );
}

/** Why the platform did not take a file, in words that say what can be done about it. */
function reasonOf(error: CanopyError, text: Words): string {
  const why = sentence(error.message);
  switch (error.code) {
    case "PAYLOAD_TOO_LARGE": return `${text.contexts.tooLarge} ${why}`;
    case "RATE_LIMITED": return text.problems.rateLimited(error.retryAfter);
    case "UNREACHABLE": case "UNAVAILABLE": return text.contexts.notSent;
    default: return error.status === 415 ? text.contexts.notRead : why;
  }
}
