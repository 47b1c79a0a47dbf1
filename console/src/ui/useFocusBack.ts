import { useEffect, useState } from "react";

/**
 * Gives the focus back to what had it, when this goes and nothing else has taken it: who works by keyboard goes on where they were. Mantine does so for
 * dialogs that stay when they are closed; ours go.
 */
export function useFocusBack(): void {
  const [before] = useState(() => document.activeElement);
  useEffect(() => () => {
    if (before instanceof HTMLElement && (document.activeElement ?? document.body) === document.body) before.focus({ preventScroll: true });
  }, [before]);
}
