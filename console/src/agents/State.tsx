import { Badge } from "@mantine/core";
import { IconAlertTriangle, IconCheck, IconClock, IconPencil, IconPlayerPause, IconPlayerStop } from "@tabler/icons-react";
import { useText } from "../text";
import { isObject } from "./value";

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
  cancelled: { color: "gray", icon: IconPlayerStop },
} as const;

/** How a run stands. To the platform one that was cancelled has failed, for that reason. */
export function stateOf({ status, error }: { status: "running" | "finished" | "failed"; error: unknown }): keyof typeof ofRuns {
  return status === "failed" && isObject(error) && error.code === "cancelled" ? "cancelled" : status;
}

/** How far a run is. */
export function RunState({ of: run }: { of: Parameters<typeof stateOf>[0] }) {
  const { text } = useText();
  const state = stateOf(run);
  const { color, icon: Icon } = ofRuns[state];
  return <Badge variant="light" color={color} tt="none" leftSection={<Icon size={12} aria-hidden />} flex="none">{text.agents.statuses[state]}</Badge>;
}
