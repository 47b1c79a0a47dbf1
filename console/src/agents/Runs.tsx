import { Button, Group, NativeSelect, Skeleton } from "@mantine/core";
import { Link, Outlet, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { type ComponentProps, lazy, Suspense, useCallback, useEffect, useState } from "react";
import { useAsk } from "../graph/hooks";
import { usePages } from "../graph/pages";
import { useText } from "../text";
import { Empty } from "../ui/Empty";
import "../ui/log.css";
import { Problem } from "../ui/Problem";
import { Rows } from "../ui/Rows";
import { useSince } from "../ui/since";
import { TimeFilter } from "../ui/TimeFilter";
import { When } from "../ui/When";
import { AgentName, AgentNames, Runs as Ask } from "./agents.gql";
import { Head } from "./Head";
import { type RunsSearch, statuses } from "./address";
import { RunState } from "./State";
import { took } from "./time";

// How often a list is asked for again as long as something in it runs, in milliseconds.
const pause = 3000;

const filter = { flex: "1 1 9rem", maw: "16rem" } as const;

/** The runs of one's company, newest first. */
export function Runs() {
  const { text } = useText();
  const search = useSearch({ from: "/inside/agents/runs" });
  const navigate = useNavigate();
  const { data } = useAsk(AgentNames, {});
  const agents = data?.me.customer.agents?.nodes ?? [];
  const change = (to: RunsSearch) => navigate({ to: ".", search: { ...search, ...to }, replace: true });
  // One of another company below is not among the names, and yet what is looked for.
  const other = data !== undefined && search.agent !== undefined && !agents.some(({ databaseId }) => databaseId === search.agent);
  const { data: named } = useAsk(AgentName, { id: String(search.agent) }, { pause: !other });
  return (
    <div className="split broad">
      <div className="list">
        <Head at="runs" />
        <Group gap="xs">
          <NativeSelect
            aria-label={text.agents.one} value={search.agent ?? ""} {...filter}
            data={[
              { value: "", label: text.agents.anyAgent }, ...(other ? [{ value: String(search.agent), label: named?.agent?.name ?? text.agents.numbered(search.agent!) }] : []),
              ...agents.map(({ databaseId, name }) => ({ value: String(databaseId), label: name })),
            ]}
            onChange={({ currentTarget: { value } }) => change({ agent: value === "" ? undefined : Number(value) })}
          />
          <NativeSelect
            aria-label={text.agents.status} value={search.status ?? ""} {...filter}
            data={[{ value: "", label: text.agents.anyStatus }, ...statuses.map((value) => ({ value, label: value === "failed" ? text.agents.failedOrCancelled : text.agents.statuses[value] }))]}
            onChange={({ currentTarget: { value } }) => change({ status: statuses.find((one) => one === value) })}
          />
          <TimeFilter value={search.time} change={(time) => change({ time })} {...filter} />
        </Group>
        <List search={search} />
      </div>
      <Outlet />
    </div>
  );
}

function List({ search: { agent, status, time } }: { search: RunsSearch }) {
  const { text, format } = useText();
  const navigate = useNavigate();
  const { jobKey } = useParams({ strict: false });
  const createdSince = useSince(time);
  const pages = usePages(
    Ask, { filter: { agentId: agent === undefined ? null : String(agent), status: status ?? null, createdSince }, subtree: agent !== undefined }, ({ runs }) => runs,
  );
  const ended = pages.rows.filter(({ finishedAt }) => finishedAt !== null).slice(0, 200);
  const running = pages.rows.some((run) => run.status === "running");
  useEffect(() => {
    if (!running) return;
    const timer = setInterval(() => pages.anew(), pause);
    return () => clearInterval(timer);
  }, [running, pages]);
  const onShow = useCallback((first: number, last: number) => pages.show(first, last), [pages]);
  if (pages.error) return <Problem error={pages.error} again={() => pages.retry()} />;
  if (pages.known && pages.rows.length === 0) {
    return agent || status || time
      ? <Empty title={text.agents.noneFound} hint={text.agents.noRunsFound} action={<Button variant="default" onClick={() => navigate({ to: ".", search: {}, replace: true })}>{text.agents.clear}</Button>} />
      : <Empty title={text.agents.noRuns} hint={text.agents.noRunsHint} action={<Button variant="default" component={Link} to="/agents">{text.agents.toAgents}</Button>} />;
  }
  return (
    <>
      {ended.length > 1 && <Drawn runs={ended} />}
      <Rows
        label={text.agents.lists.runs} count={pages.rows.length} more={pages.more} onShow={onShow} height={60}
        keyOf={(index) => pages.rows[index]!.id}
        onOpen={(index) => navigate({ to: "/agents/runs/$jobKey", params: { jobKey: pages.rows[index]!.jobKey }, search: true })}
        isOpen={(index) => pages.rows[index]!.jobKey === jobKey}
        render={(index) => {
          const { agent, createdAt, finishedAt, ...run } = pages.rows[index]!;
          return (
            <>
              <span className="two">
                <span>{agent?.name ?? text.agents.agentGone}</span>
                <span className="quiet"><When at={createdAt} />{finishedAt && ` · ${took(createdAt, finishedAt, format)}`}</span>
              </span>
              <RunState of={run} />
            </>
          );
        }}
      />
    </>
  );
}

const Durations = lazy(() => import("./Durations"));

/** How long they took, drawn where that is asked for. */
function Drawn({ runs }: { runs: ComponentProps<typeof Durations>["runs"] }) {
  const { text } = useText();
  const [open, setOpen] = useState(false);
  return (
    <details className="more" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{text.agents.howLong}</summary>
      {open && <Suspense fallback={<Skeleton height={200} />}><Durations runs={runs} /></Suspense>}
    </details>
  );
}
