import { type ComponentType, useEffect, useState } from "react";
import { useFocusBack } from "../ui/useFocusBack";

export interface SearchProps {
  words: string;
  setWords: (words: string) => void;
  close: () => void;
}

/** The box that finds anything, loaded when it is first asked for. Nobody waits for it to type: what is typed before it has the focus is put into it. */
export function Searching({ close }: { close: () => void }) {
  const [words, setWords] = useState("");
  useFocusBack();
  // A Suspense that has begun to wait shows nothing for 300 ms, however soon the rest is there.
  const [box, setBox] = useState<{ Search?: ComponentType<SearchProps>; error?: unknown }>({});
  useEffect(() => {
    import("./Search").then(({ Search }) => setBox({ Search }), (error: unknown) => setBox({ error }));
  }, []);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || document.activeElement?.closest("[role=dialog]")) return;
      if (event.key === "Escape") close();
      else if (event.key === "Backspace") setWords((before) => before.slice(0, -1));
      else if (event.key.length === 1) setWords((before) => before + event.key);
      else if (event.key !== "Enter") return; // which would press what has the focus still
      event.preventDefault();
      event.stopPropagation();
    };
    window.addEventListener("keydown", onKeyDown, true);
    return () => window.removeEventListener("keydown", onKeyDown, true);
  }, [close]);
  if (box.error !== undefined) throw box.error;
  return box.Search && <box.Search words={words} setWords={setWords} close={close} />;
}
