import { useLocation } from "@tanstack/react-router";

declare module "@tanstack/react-router" {
  interface HistoryState {
    /** An address that was typed already: it goes along from screen to screen, and not into the browser's line. */
    email?: string;
  }
}

/** The address that was typed on the screen before. */
export function useTyped(): string {
  return useLocation({ select: ({ state }) => state.email ?? "" });
}
