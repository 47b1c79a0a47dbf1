import { Tooltip } from "@mantine/core";
import { useSyncExternalStore } from "react";
import { useText } from "../text";

const minute = 60_000;
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** Tells all times that are shown that a minute has passed. */
function everyMinute(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => listeners.forEach((tell) => tell()), minute);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** A time as people tell it, with the exact one on hover and focus. */
export function When({ at, never }: { at: string | null | undefined; never?: string }) {
  const { format, text } = useText();
  useSyncExternalStore(everyMinute, () => Math.floor(Date.now() / minute));
  if (!at) return <span className="quiet">{never ?? text.ui.never}</span>;
  return (
    // Within the page's main landmark, so that assistive programs can tell where it belongs.
    <Tooltip label={format.exact(at)} events={{ hover: true, focus: true, touch: true }} portalProps={{ target: "main" }}>
      <time dateTime={at}>{format.relative(at)}</time>
    </Tooltip>
  );
}
