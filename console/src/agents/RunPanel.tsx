import { Skeleton, Stack, Text } from "@mantine/core";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useText } from "../text";
import { Problem } from "../ui/Problem";
import { SidePanel } from "../ui/SidePanel";
import { RunView } from "./RunView";
import { useRun } from "./useRun";

/** One run, beside the list. */
export function RunPanel() {
  const { text } = useText();
  const { jobKey } = useParams({ from: "/inside/agents/runs/$jobKey" });
  const navigate = useNavigate();
  const { run, asked, error, again } = useRun(jobKey);
  return (
    <SidePanel key={jobKey} title={run ? text.agents.runOf(run.agent?.name ?? text.agents.agentGone) : text.agents.run} close={() => navigate({ to: "/agents/runs", search: true })}>
      <Stack>
        <Problem error={error} again={again} />
        {run ? (
          <RunView run={run} show={(next) => navigate({ to: "/agents/runs/$jobKey", params: { jobKey: next }, search: true })} />
        ) : !error && (asked ? <Text c="dimmed">{text.agents.runGone}</Text> : <Skeleton height={300} />)}
      </Stack>
    </SidePanel>
  );
}
