import { Group } from "@mantine/core";
import type { ReactNode } from "react";

/** What a form in a side panel leads to: it stays in view, however long the form is. */
export function Foot({ children }: { children: ReactNode }) {
  return <Group className="foot">{children}</Group>;
}
