import { Button, Group, NativeSelect } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { Link, Outlet, useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, useCallback } from "react";
import { type Pages, usePages } from "../graph/pages";
import { CompanyPill } from "../people/CompanyPill";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { Empty } from "../ui/Empty";
import { FindBox } from "../ui/FindBox";
import { MoreLinks } from "../ui/MoreLinks";
import { Problem } from "../ui/Problem";
import { Rows } from "../ui/Rows";
import { When } from "../ui/When";
import { Agents as Ask, AgentsOf, type AgentsResult } from "./agents.gql";
import { Head } from "./Head";
import { type AgentsSearch, states } from "./address";
import { AgentState } from "./State";

const filters = { runnable: { runnable: true }, unpublished: { enabled: true, runnable: false }, disabled: { enabled: false } } as const;

/** The agents of one's company, or of another one within reach. */
export function Agents() {
  const { text } = useText();
  const me = useMe();
  const search = useSearch({ from: "/inside/agents" });
  const navigate = useNavigate();
  const change = (to: AgentsSearch) => navigate({ to: ".", search: { ...search, ...to }, replace: true });
  return (
    <div className="split">
      <div className="list">
        <Head at="agents">{me.can("agent.write") && <><MoreLinks of={[{ to: "/agents/deleted", label: text.ui.recentlyDeleted }]} />{search.company === undefined && <NewAgent />}</>}</Head>
        <Group gap="xs">
          <FindBox label={text.agents.find} value={search.find} change={(find) => change({ find })} flex={1} miw="12rem" />
          <NativeSelect
            aria-label={text.agents.state} value={search.state ?? ""}
            data={[{ value: "", label: text.agents.anyState }, ...states.map((value) => ({ value, label: text.agents.states[value] }))]}
            onChange={({ currentTarget: { value } }) => change({ state: states.find((one) => one === value) })}
          />
          <NativeSelect
            aria-label={text.agents.order} value={search.order ?? "name"}
            data={(["name", "newest"] as const).map((value) => ({ value, label: text.agents.orders[value] }))}
            onChange={({ currentTarget: { value } }) => change({ order: value === "newest" ? value : undefined })}
          />
          {search.company !== undefined && <CompanyPill id={search.company} back={text.agents.ownCompany} remove={() => change({ company: undefined })} />}
        </Group>
        {search.company === undefined ? <Own search={search} /> : <Of search={search} company={search.company} />}
      </div>
      <Outlet />
    </div>
  );
}

function NewAgent() {
  const { text } = useText();
  return <Button renderRoot={(props) => <Link to="/agents/new" search={true} {...props} />} leftSection={<IconPlus size={16} aria-hidden />}>{text.agents.create}</Button>;
}

type Listed = NonNullable<AgentsResult["me"]["customer"]["agents"]>["nodes"][number];

function useWhich({ find, state, order }: AgentsSearch) {
  const [typed] = useDebouncedValue(find, 200);
  return {
    filter: { search: typed ?? null, ...(state ? filters[state] : {}) },
    orderBy: [order === "newest" ? { field: "CREATED_AT" as const, direction: "DESC" as const } : { field: "NAME" as const, direction: "ASC" as const }],
  };
}

function Own({ search }: { search: AgentsSearch }) {
  const { text } = useText();
  const me = useMe();
  const pages = usePages(Ask, useWhich(search), ({ me }) => me.customer.agents);
  const can = me.can("agent.write");
  return <List pages={pages} search={search} none={<Empty title={text.agents.none} hint={can ? text.agents.noneHint : text.agents.noneToRead} action={can && <NewAgent />} />} />;
}

/** Those of another company: the graph lists them company by company. */
function Of({ search, company }: { search: AgentsSearch; company: number }) {
  const { text } = useText();
  const pages = usePages(AgentsOf, { customerId: String(company), ...useWhich(search) }, ({ customer }) => customer?.agents);
  return <List pages={pages} search={search} none={<Empty title={text.agents.none} hint={text.agents.noneThere} />} />;
}

function List({ pages, search, none }: { pages: Pages<Listed>; search: AgentsSearch; none: ReactNode }) {
  const { text } = useText();
  const navigate = useNavigate();
  const onShow = useCallback((first: number, last: number) => pages.show(first, last), [pages]);
  if (pages.error) return <Problem error={pages.error} again={() => pages.retry()} />;
  if (pages.known && pages.rows.length === 0) {
    const clear = () => navigate({ to: ".", search: { company: search.company }, replace: true });
    return search.find || search.state
      ? <Empty title={text.agents.noneFound} hint={text.agents.noneFoundHint} action={<Button variant="default" onClick={clear}>{text.agents.clear}</Button>} />
      : none;
  }
  return (
    <Rows
      label={text.agents.title} count={pages.rows.length} more={pages.more} onShow={onShow} height={52}
      keyOf={(index) => pages.rows[index]!.id}
      onOpen={(index) => navigate({ to: "/agents/$agentId", params: { agentId: String(pages.rows[index]!.databaseId) } })}
      render={(index) => {
        const { name, published, updatedAt, ...state } = pages.rows[index]!;
        return (
          <>
            <span className="cell wide">{name}</span>
            <span className="cell spare quiet">{published && text.agents.revision(published.number)}</span>
            <span className="cell spare quiet"><When at={updatedAt} /></span>
            <AgentState of={state} />
          </>
        );
      }}
    />
  );
}
