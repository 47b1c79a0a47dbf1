import { CloseButton, Group, Title } from "@mantine/core";
import { type ReactNode, useEffect, useRef } from "react";
import { useText } from "../text";
import { useTitle } from "./Page";
import { useFocusBack } from "./useFocusBack";

/** What was chosen in a page's list, beside it. Escape closes it. When it opens, what is to be filled in first, marked by data-autofocus, takes the focus, or else its name. */
export function SidePanel({ title, close, children }: { title: string; close: () => void; children: ReactNode }) {
  const { text } = useText();
  const panel = useRef<HTMLElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  useTitle(title);
  useFocusBack();
  useEffect(() => (panel.current?.querySelector<HTMLElement>("[data-autofocus]") ?? heading.current)?.focus({ preventScroll: true }), []);
  return (
    <section ref={panel} className="panel" aria-label={title} onKeyDown={(event) => {
      if (event.key === "Escape" && !event.defaultPrevented) close();
    }}>
      <Group justify="space-between" wrap="nowrap" p="md" pb={0}>
        <Title order={2} size="h4" ref={heading} tabIndex={-1} miw={0}>{title}</Title>
        <CloseButton flex="none" aria-label={text.ui.close} onClick={close} />
      </Group>
      <div className="inside" tabIndex={0} role="group" aria-label={title}>{children}</div>
    </section>
  );
}
