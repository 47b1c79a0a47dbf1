import { Anchor, Button, Group, Menu, Skeleton, TextInput } from "@mantine/core";
import { IconArrowRight, IconArrowsDiff, IconDots, IconHistory, IconPlayerPlay, IconSchema, type Icon } from "@tabler/icons-react";
import { Link, Outlet, useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { useAsk, useChange } from "../graph/hooks";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { Confirm } from "../ui/Confirm";
import { Dialog } from "../ui/Dialog";
import { Empty } from "../ui/Empty";
import { PageHead } from "../ui/Page";
import { Problem } from "../ui/Problem";
import { useNotices } from "../ui/useNotices";
import { useSubmit } from "../ui/useSubmit";
import "../ui/ways.css";
import { Agent as Ask, type AgentResult, DeleteAgent, DisableAgent, EnableAgent, PublishAgent, RestoreAgent, SaveAgent, UnpublishAgent } from "./agents.gql";
import "./agents.css";
import { AgentState } from "./State";
import { written } from "./value";

export type WholeAgent = NonNullable<AgentResult["agent"]>;

/** The agent that an address names. */
export function useAgent() {
  const { agentId } = useParams({ strict: false });
  const { data, error, again } = useAsk(Ask, { id: agentId! });
  return { agent: data?.agent ?? undefined, error, again };
}

/** One agent: its head, and below it the page that is open. */
export function Agent() {
  const { text } = useText();
  const { agent, error, again } = useAgent();
  if (!agent) {
    return (
      <>
        <PageHead title={text.agents.one} />
        {error?.code === "NOT_FOUND" ? <Empty title={text.agents.gone} action={<Anchor component={Link} to="/agents">{text.agents.title}</Anchor>} />
          : error ? <Problem error={error} again={again} /> : <Skeleton height={300} />}
      </>
    );
  }
  return (
    <div className="whole" key={agent.id}>
      <AgentHead agent={agent} />
      <Problem error={error} again={again} />
      <Outlet />
    </div>
  );
}

function AgentHead({ agent }: { agent: WholeAgent }) {
  const { text } = useText();
  const me = useMe();
  const { databaseId, name } = agent;
  return (
    <>
      <div>
        <Anchor component={Link} to="/agents" size="sm">{text.agents.title}</Anchor>
        <PageHead title={name}>
          <AgentState of={agent} />
          {me.can("agent.write") && <Deeds agent={agent} />}
        </PageHead>
      </div>
      <nav className="ways" aria-label={name}>
        <Way to={`/agents/${databaseId}`} icon={IconSchema} label={text.agents.diagram} />
        <Way to={`/agents/${databaseId}/changes`} icon={IconArrowsDiff} label={text.agents.changes} />
        <Way to={`/agents/${databaseId}/revisions`} icon={IconHistory} label={text.agents.revisions} />
        {me.can("agent.run") && <Way to={`/agents/${databaseId}/test`} icon={IconPlayerPlay} label={text.agents.test} />}
        <Link to="/agents/runs" search={{ agent: databaseId }} className="way away">{text.agents.itsRuns}<IconArrowRight size={16} aria-hidden /></Link>
      </nav>
    </>
  );
}

function Way({ to, icon: Icon, label }: { to: string; icon: Icon; label: string }) {
  return (
    <Link to={to} className="way" activeOptions={{ exact: true, includeSearch: false }} activeProps={{ "aria-current": "page" }}>
      <Icon size={16} aria-hidden />{label}
    </Link>
  );
}

/** What is done with an agent as a whole. */
function Deeds({ agent }: { agent: WholeAgent }) {
  const { text } = useText();
  const navigate = useNavigate();
  const enable = useChange(EnableAgent);
  const disable = useChange(DisableAgent);
  const unpublish = useChange(UnpublishAgent);
  const remove = useChange(DeleteAgent);
  const restore = useChange(RestoreAgent);
  const publish = useChange(PublishAgent);
  const { attempt, say, offer } = useNotices();
  const [asked, setAsked] = useState<"rename" | "unpublish">();
  const { id, name, enabled, published, version } = agent;
  const input = { id };
  // The draft can be published again at once, where it is what was published.
  const takeBack = async () => {
    if (written(agent.draft) !== written(published!.diagram)) return setAsked("unpublish");
    if (await attempt(() => unpublish({ input }))) offer(text.agents.unpublished(name), () => publish({ input }));
  };
  const turn = async () => {
    const [now, back] = enabled ? [disable, enable] : [enable, disable];
    if (await attempt(() => now({ input }))) offer(enabled ? text.agents.disabled(name) : text.agents.enabled(name), () => back({ input }));
  };
  const takeAway = async () => {
    if (!await attempt(() => remove({ input: { id, ifVersion: version } }))) return;
    offer(text.agents.deleted(name), () => restore({ input }));
    await navigate({ to: "/agents" });
  };
  return (
    <>
      <Menu withinPortal={false} withInitialFocusPlaceholder={false} position="bottom-end">
        <Menu.Target><Button variant="default" px="xs" aria-label={text.agents.more}><IconDots size={16} aria-hidden /></Button></Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => setAsked("rename")}>{text.agents.rename}</Menu.Item>
          <Menu.Item onClick={() => void turn()}>{enabled ? text.agents.disable : text.agents.enable}</Menu.Item>
          {published && <Menu.Item onClick={() => void takeBack()}>{text.agents.unpublish}</Menu.Item>}
          <Menu.Item c="var(--mantine-color-error)" onClick={() => void takeAway()}>{text.agents.delete}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {asked === "rename" && <Rename agent={agent} close={() => setAsked(undefined)} />}
      {asked === "unpublish" && published && (
        <Confirm
          title={text.agents.unpublishTitle(name)} button={text.agents.unpublish} close={() => setAsked(undefined)}
          work={async () => {
            await unpublish({ input });
            say(text.agents.unpublished(name));
          }}
        >
          {text.agents.unpublishHint(published.number)}
        </Confirm>
      )}
    </>
  );
}

function Rename({ agent: { id, name }, close }: { agent: WholeAgent; close: () => void }) {
  const { text } = useText();
  const save = useChange(SaveAgent);
  const [next, setNext] = useState(name);
  const { offer } = useNotices();
  const submit = useSubmit(async () => {
    await save({ input: { id, name: next } });
    offer(text.ui.saved, () => save({ input: { id, name } }));
    close();
  });
  return (
    <Dialog title={text.agents.rename} close={close}>
      <form onSubmit={submit.onSubmit}>
        <Problem error={submit.rest("name")} />
        <TextInput label={text.agents.name} required withAsterisk={false} error={submit.fault("name")} value={next} onChange={({ currentTarget: { value } }) => setNext(value)} data-autofocus />
        <Group mt="md">
          <Button type="submit" loading={submit.busy}>{text.ui.save}</Button>
          <Button variant="default" onClick={close}>{text.ui.cancel}</Button>
        </Group>
      </form>
    </Dialog>
  );
}
