import { Badge } from "@mantine/core";
import { IconAlertTriangle, IconBan, IconCheck, IconClock, IconPlayerPause } from "@tabler/icons-react";
import { useText } from "../text";
import type { statuses } from "./address";

type Status = (typeof statuses)[number];

/** How a destination is, in a word. */
export type Health = "off" | "stopped" | "failing" | "well" | "unused";

export function stateOf({ enabled, autoDisabledAt }: { enabled: boolean; autoDisabledAt: string | null }, latest: Status | undefined): Health {
  if (!enabled) return autoDisabledAt ? "stopped" : "off";
  if (latest === undefined) return "unused";
  return latest === "failed" || latest === "blocked" ? "failing" : "well";
}

const health = {
  off: { color: "gray", icon: IconPlayerPause },
  stopped: { color: "red", icon: IconBan },
  failing: { color: "red", icon: IconAlertTriangle },
  well: { color: "canopy", icon: IconCheck },
  unused: { color: "gray", icon: IconClock },
} as const;

export function State({ state }: { state: Health }) {
  const { text } = useText();
  const { color, icon: Icon } = health[state];
  return <Badge variant="light" color={color} tt="none" leftSection={<Icon size={12} aria-hidden />} flex="none">{text.webhooks.states[state]}</Badge>;
}

const delivery = {
  pending: { color: "blue", icon: IconClock },
  delivered: { color: "canopy", icon: IconCheck },
  failed: { color: "red", icon: IconAlertTriangle },
  blocked: { color: "red", icon: IconBan },
} as const;

/** How far a delivery is. */
export function DeliveryState({ status }: { status: Status }) {
  const { text } = useText();
  const { color, icon: Icon } = delivery[status];
  return <Badge variant="light" color={color} tt="none" leftSection={<Icon size={12} aria-hidden />} flex="none">{text.webhooks.statuses[status]}</Badge>;
}
