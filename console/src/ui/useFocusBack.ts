import { useEffect, useState } from "react";

/**
 * Gives the focus back to what had it, when this goes and nothing else has taken it: who works by keyboard goes on where they were. Where that is gone, too,
 * they go on at the top of the page's own part. Mantine does so for dialogs that stay when they are closed; ours go.
 */
export function useFocusBack(): void {
  const [before] = useState(() => document.activeElement);
  useEffect(() => () => {
    if ((document.activeElement ?? document.body) !== document.body) return;
    const there = before instanceof HTMLElement && before !== document.body && before.isConnected ? before : document.getElementById("main");
    there?.focus({ preventScroll: true });
  }, [before]);
}
