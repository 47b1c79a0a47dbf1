import { Tooltip } from "@mantine/core";
import { useText } from "../text";

/** A time as people tell it, with the exact one on hover and focus. */
export function When({ at, never }: { at: string | null | undefined; never?: string }) {
  const { format, text } = useText();
  if (!at) return <span className="quiet">{never ?? text.ui.never}</span>;
  return (
    <Tooltip label={format.exact(at)} events={{ hover: true, focus: true, touch: true }}>
      <time dateTime={at}>{format.relative(at)}</time>
    </Tooltip>
  );
}
