import { Group, Modal } from "@mantine/core";
import type { ReactNode } from "react";
import { useText } from "../text";
import { useFocusBack } from "./useFocusBack";

/** A dialog before everything else. Escape and its button close it; a click beside it does not, which would lose what was typed. */
export function Dialog({ title, close, size, children }: { title: string; close: () => void; size?: string; children: ReactNode }) {
  const { text } = useText();
  useFocusBack();
  return (
    <Modal.Root opened onClose={close} closeOnClickOutside={false} {...(size ? { size } : {})}>
      <Modal.Overlay />
      <Modal.Content>
        <Group justify="space-between" wrap="nowrap" p="md" pb={0}>
          <Modal.Title>{title}</Modal.Title>
          <Modal.CloseButton aria-label={text.ui.close} />
        </Group>
        <Modal.Body pt="md">{children}</Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}
