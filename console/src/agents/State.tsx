import { Badge } from "@mantine/core";
import { IconAlertTriangle, IconCheck, IconClock, IconPencil, IconPlayerPause } from "@tabler/icons-react";
import { useText } from "../text";
import type { statuses } from "./address";

const ofAgents = {
  runnable: { color: "canopy", icon: IconCheck },
  unpublished: { color: "gray", icon: IconPencil },
  disabled: { color: "gray", icon: IconPlayerPause },
} as const;

/** Whether an agent can be run, and why not. */
export function AgentState({ of: { enabled, runnable } }: { of: { enabled: boolean; runnable: boolean } }) {
  const { text } = useText();
  const state = runnable ? "runnable" : enabled ? "unpublished" : "disabled";
  const { color, icon: Icon } = ofAgents[state];
  return <Badge variant="light" color={color} tt="none" leftSection={<Icon size={12} aria-hidden />} flex="none">{text.agents.states[state]}</Badge>;
}

const ofRuns = {
  running: { color: "blue", icon: IconClock },
  finished: { color: "canopy", icon: IconCheck },
  failed: { color: "red", icon: IconAlertTriangle },
} as const;

/** How far a run is. */
export function RunState({ status }: { status: (typeof statuses)[number] }) {
  const { text } = useText();
  const { color, icon: Icon } = ofRuns[status];
  return <Badge variant="light" color={color} tt="none" leftSection={<Icon size={12} aria-hidden />} flex="none">{text.agents.statuses[status]}</Badge>;
}
