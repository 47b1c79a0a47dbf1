import { Anchor, Skeleton, Text } from "@mantine/core";
import { IconChartBar, IconFileText, IconMessageQuestion, IconSearch, IconSettings, type Icon } from "@tabler/icons-react";
import { Link, Outlet, useParams } from "@tanstack/react-router";
import { useAsk } from "../graph/hooks";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { Empty } from "../ui/Empty";
import { PageHead } from "../ui/Page";
import { Problem } from "../ui/Problem";
import "../ui/ways.css";
import { ChangesContext, useChanges } from "./changes";
import { type ContextResult, Context as Ask } from "./contexts.gql";
import "./contexts.css";
import { DropZone } from "./DropZone";
import { Shared } from "./Shared";

export type Whole = NonNullable<ContextResult["context"]>;

/** The context that an address names. */
export function useContextOf(contextId: string) {
  const { data, error, again } = useAsk(Ask, { id: contextId });
  return { context: data?.context ?? undefined, error, again };
}

/** What belongs to one context: its pages, and its documents. What is dropped on any of them is added to it. */
export function Context() {
  const { text } = useText();
  const { contextId } = useParams({ from: "/inside/contexts/$contextId" });
  const { context, error, again } = useContextOf(contextId);
  if (context) return <Inside key={context.id} context={context} />;
  if (!error) return <Skeleton height={300} />;
  return (
    <>
      <PageHead title={text.contexts.one} />
      {error.code === "NOT_FOUND" ? <Empty title={text.contexts.gone} action={<Anchor component={Link} to="/contexts">{text.contexts.title}</Anchor>} />
        : <Problem error={error} again={again} />}
    </>
  );
}

function Inside({ context }: { context: Whole }) {
  const me = useMe();
  const id = String(context.databaseId);
  const changes = useChanges(id);
  return (
    <ChangesContext value={changes}>
      {me.can("context.write") && <DropZone contextId={id} name={context.name} />}
      <div className="whole"><Outlet /></div>
    </ChangesContext>
  );
}

/** The head of a context's own pages, with the ways between them. */
export function ContextHead({ context }: { context: Whole }) {
  const { text } = useText();
  const me = useMe();
  const { databaseId, name, icon, caption, shareState } = context;
  return (
    <>
      <div>
        <Anchor component={Link} to="/contexts" size="sm">{text.contexts.title}</Anchor>
        <PageHead title={icon ? `${icon} ${name}` : name}><Shared state={shareState} /></PageHead>
        {caption && <Text c="dimmed" size="sm">{caption}</Text>}
      </div>
      <nav className="ways" aria-label={name}>
        <Way to={`/contexts/${databaseId}`} icon={IconFileText} label={text.contexts.documents} />
        <Way to={`/contexts/${databaseId}/search`} icon={IconSearch} label={text.contexts.search} />
        <Way to={`/contexts/${databaseId}/ask`} icon={IconMessageQuestion} label={text.contexts.ask} />
        {me.can("context.write") && <Way to={`/contexts/${databaseId}/questions`} icon={IconChartBar} label={text.contexts.questions} />}
        <Way to={`/contexts/${databaseId}/settings`} icon={IconSettings} label={text.contexts.settings} />
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
