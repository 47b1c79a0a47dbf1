import { Button } from "@mantine/core";
import { IconFolder, IconUpload } from "@tabler/icons-react";
import { type ChangeEvent, useRef } from "react";
import { useText } from "../text";
import { accept } from "./files";
import { uploadsInto } from "./uploads";

/** Chooses files, or a folder, to add to a context. */
export function AddDocuments({ contextId }: { contextId: string }) {
  const { text } = useText();
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const onChange = ({ currentTarget: input }: ChangeEvent<HTMLInputElement>) => {
    uploadsInto(contextId).add([...input.files!]);
    input.value = ""; // the same file can be chosen again
  };
  const hidden = { type: "file", hidden: true, multiple: true, onChange } as const;
  const asFolder = (input: HTMLInputElement | null) => {
    folder.current = input;
    if (input) input.webkitdirectory = true; // React has no property of that name
  };
  return (
    <>
      <input {...hidden} ref={files} accept={accept} aria-label={text.contexts.add} />
      <input {...hidden} ref={asFolder} aria-label={text.contexts.addFolder} />
      <Button leftSection={<IconUpload size={16} aria-hidden />} onClick={() => files.current!.click()}>{text.contexts.add}</Button>
      <Button variant="default" leftSection={<IconFolder size={16} aria-hidden />} onClick={() => folder.current!.click()}>{text.contexts.addFolder}</Button>
    </>
  );
}
