import { Badge } from "@mantine/core";
import type { Schema } from "canopy-client";
import { useText } from "../text";

const colors = { ACTIVE: "canopy", SUSPENDED: "yellow", DELETED: "red" } as const;

/** A company's status in a word; that it is active goes without saying. */
export function Status({ status, always = false }: { status: Schema.CustomerStatus; always?: boolean }) {
  const { text } = useText();
  if (status === "ACTIVE" && !always) return null;
  return <Badge variant="light" color={colors[status]}>{text.companies.statuses[status]}</Badge>;
}
