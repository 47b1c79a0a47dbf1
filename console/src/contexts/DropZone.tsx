import { IconUpload } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { useText } from "../text";
import { filesOf, hasFiles } from "./files";
import { uploadsInto } from "./uploads";

/** Takes files and folders that are dropped anywhere on the page, and shows, as long as they are dragged, where they will go. */
export function DropZone({ contextId, name }: { contextId: string; name: string }) {
  const { text } = useText();
  const navigate = useNavigate();
  const [over, setOver] = useState(false);
  useEffect(() => {
    const dragged = (event: DragEvent) => {
      if (!event.dataTransfer || !hasFiles(event.dataTransfer)) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = "copy";
      setOver(true);
    };
    const left = (event: DragEvent) => {
      if (event.relatedTarget === null) setOver(false);
    };
    const dropped = async (event: DragEvent) => {
      if (!event.dataTransfer || !hasFiles(event.dataTransfer)) return;
      event.preventDefault();
      setOver(false);
      const files = await filesOf(event.dataTransfer);
      uploadsInto(contextId).add(files);
      await navigate({ to: "/contexts/$contextId", params: { contextId } });
    };
    const stop = new AbortController();
    const { signal } = stop;
    addEventListener("dragover", dragged, { signal });
    addEventListener("dragleave", left, { signal });
    addEventListener("drop", dropped, { signal });
    return () => stop.abort();
  }, [contextId, navigate]);
  return over && <div className="drop"><IconUpload size={40} aria-hidden /><strong>{text.contexts.drop(name)}</strong><span>{text.contexts.dropHint}</span></div>;
}
