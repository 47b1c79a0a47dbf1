import { Group, Modal } from "@mantine/core";
import { createContext, type ReactNode, type RefObject, use, useEffect, useRef } from "react";
import { useText } from "../text";
import { useFocusBack } from "./useFocusBack";

const asking = createContext<RefObject<() => boolean> | undefined>(undefined);

/** Has the dialog that this stands in, where it does, ask before Escape or its button closes it. */
export function useAsked(may: () => boolean): void {
  const asked = use(asking);
  useEffect(() => {
    if (!asked) return;
    asked.current = may;
    return () => {
      asked.current = yes;
    };
  });
}

const yes = () => true;

/** A dialog before everything else. Escape and its button close it; a click beside it does not, which would lose what was typed. */
export function Dialog({ title, close, size, children }: { title: string; close: () => void; size?: string; children: ReactNode }) {
  const { text } = useText();
  const may = useRef(yes);
  useFocusBack();
  return (
    <Modal.Root opened onClose={() => may.current() && close()} closeOnClickOutside={false} {...(size ? { size } : {})}>
      <Modal.Overlay />
      <Modal.Content>
        <Group justify="space-between" wrap="nowrap" p="md" pb={0}>
          <Modal.Title>{title}</Modal.Title>
          <Modal.CloseButton aria-label={text.ui.close} />
        </Group>
        <Modal.Body pt="md"><asking.Provider value={may}>{children}</asking.Provider></Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}
