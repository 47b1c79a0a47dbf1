import { useBlocker } from "@tanstack/react-router";
import { useRef } from "react";
import { useText } from "../text";
import { useAsked } from "./Dialog";
import { useUnsaved } from "./unsaved";

/** Has a person asked before what is shown this once goes off the screen. What it gives is for whoever has kept it, and goes on without a question. */
export function useShownOnce(done: () => void): () => void {
  const { text } = useText();
  const kept = useRef(false);
  const may = () => kept.current || window.confirm(text.ui.loseSecret);
  useUnsaved(true);
  useAsked(may);
  useBlocker({ shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname && !may(), enableBeforeUnload: () => !kept.current });
  return () => {
    kept.current = true;
    done();
  };
}
