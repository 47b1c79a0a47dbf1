import { Badge, Button, Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import { useAsk, useChange } from "../graph/hooks";
import { usePages } from "../graph/pages";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { Empty } from "../ui/Empty";
import "../ui/lists.css";
import { Problem } from "../ui/Problem";
import { Rows } from "../ui/Rows";
import { useNotices } from "../ui/useNotices";
import { When } from "../ui/When";
import { useAgent, type WholeAgent } from "./Agent";
import { Revision as AskOne, Revisions as Ask, SaveAgent } from "./agents.gql";
import { Diff } from "./Diff";
import { written } from "./value";

/** What was published of an agent, newest first, and what each has to do with the draft. */
export function Revisions() {
  const { agent } = useAgent();
  return agent && <Inside agent={agent} />;
}

function Inside({ agent }: { agent: WholeAgent }) {
  const { text } = useText();
  const navigate = useNavigate();
  const { revision } = useSearch({ from: "/inside/agents/$agentId/revisions" });
  const pages = usePages(Ask, { id: agent.id }, ({ agent }) => agent?.revisions);
  const onShow = useCallback((first: number, last: number) => pages.show(first, last), [pages]);
  if (pages.error) return <Problem error={pages.error} again={() => pages.retry()} />;
  if (pages.known && pages.rows.length === 0) {
    return <Empty title={text.agents.noRevisions} hint={text.agents.noRevisionsHint} action={<Button variant="default" component={Link} to={`/agents/${agent.databaseId}/changes`}>{text.agents.changes}</Button>} />;
  }
  const open = revision ?? pages.rows[0]?.id;
  return (
    <div className="revisions">
      <Rows
        label={text.agents.revisions} count={pages.rows.length} more={pages.more} onShow={onShow}
        keyOf={(index) => pages.rows[index]!.id} isOpen={(index) => pages.rows[index]!.id === open}
        onOpen={(index) => navigate({ to: ".", search: { revision: pages.rows[index]!.id }, replace: true })}
        render={(index) => {
          const { id, number, createdAt } = pages.rows[index]!;
          return (
            <>
              <span className="cell">{text.agents.revision(number)}</span>
              {agent.published?.id === id && <Badge variant="light" tt="none" flex="none">{text.agents.runsNow}</Badge>}
              <span className="quiet"><When at={createdAt} /></span>
            </>
          );
        }}
      />
      {open && <One key={open} id={open} agent={agent} />}
    </div>
  );
}

/** One revision against the draft, and the way to make it the draft. */
function One({ id, agent }: { id: string; agent: WholeAgent }) {
  const { text } = useText();
  const me = useMe();
  const { data, error, again } = useAsk(AskOne, { id });
  const save = useChange(SaveAgent);
  const { attempt, offer } = useNotices();
  const revision = data?.node;
  if (!revision || !("number" in revision)) {
    return error ? <Problem error={error} again={again} /> : data ? <Text c="dimmed">{text.agents.revisionGone}</Text> : <Skeleton height={200} />;
  }
  const [before, after] = [written(revision.diagram), written(agent.draft)];
  const same = before === after;
  const take = async () => {
    const was = agent.draft;
    await attempt(async () => {
      const { updateAgent } = await save({ input: { id: agent.id, diagram: revision.diagram, ifVersion: agent.version } });
      const { version } = updateAgent!.agent;
      offer(text.agents.taken(revision.number), () => save({ input: { id: agent.id, diagram: was, ifVersion: version } }));
    });
  };
  return (
    <Stack component="section" aria-label={text.agents.revisionOf(revision.number)}>
      <Group justify="space-between">
        <Title order={2} size="h4">{text.agents.revisionOf(revision.number)}</Title>
        {me.can("agent.write") && !same && <Button variant="default" size="xs" onClick={() => void take()}>{text.agents.take}</Button>}
      </Group>
      <Text size="sm" c="dimmed">{same ? text.agents.revisionSame : text.agents.revisionDiffers}</Text>
      {same ? <pre className="wire wrap" tabIndex={0} aria-label={text.agents.json}>{before}</pre> : <Diff label={text.agents.revisionAgainstDraft} before={before} after={after} />}
    </Stack>
  );
}
