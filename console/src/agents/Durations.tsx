import { Anchor } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { useText } from "../text";
import { Chart } from "../ui/Chart";
import { When } from "../ui/When";
import type { RunsResult } from "./agents.gql";
import { stateOf } from "./State";
import { duration, took } from "./time";

type Run = NonNullable<RunsResult["runs"]>["nodes"][number];

const at = ({ createdAt }: Run) => Date.parse(createdAt);
const seconds = ({ createdAt, finishedAt }: Run) => (finishedAt ? (Date.parse(finishedAt) - Date.parse(createdAt)) / 1000 : null);

/** How long runs that have ended took, those that finished apart from those that failed or were cancelled. */
export default function Durations({ runs: known }: { runs: readonly Run[] }) {
  const { text, format } = useText();
  // The list is asked for again as long as something runs; what is drawn stays as long as it is the same.
  const runs = useMemo(() => known, [known.map(({ id }) => id).join()]);
  const drawn = useMemo(() => ({
    series: [
      { name: text.agents.statuses.finished, of: (run: Run) => (run.status === "finished" ? seconds(run) : null) },
      { name: text.agents.failedOrCancelled, of: (run: Run) => (run.status === "failed" ? seconds(run) : null) },
    ],
    write: (value: number) => duration(value * 1000, format),
  }), [text, format]);
  return (
    <Chart
      label={text.agents.drawn(format.number(runs.length))} rows={runs} at={at} {...drawn}
      table={{
        keyOf: (run) => run.id,
        columns: [
          { title: text.agents.one, by: ({ agent }) => agent?.name, cell: ({ agent, jobKey }) => <Anchor component={Link} to={`/agents/runs/${jobKey}`} size="sm" td="underline">{agent?.name ?? text.agents.agentGone}</Anchor> },
          { title: text.agents.begun, by: ({ createdAt }) => createdAt, cell: ({ createdAt }) => <When at={createdAt} /> },
          { title: text.agents.status, by: (run) => text.agents.statuses[stateOf(run)], cell: (run) => text.agents.statuses[stateOf(run)] },
          { title: text.agents.took, by: seconds, cell: ({ createdAt, finishedAt }) => (finishedAt ? took(createdAt, finishedAt, format) : "–") },
        ],
      }}
    />
  );
}
