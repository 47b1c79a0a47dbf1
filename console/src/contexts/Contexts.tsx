import { Button, Group, NativeSelect } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { Link, Outlet, useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import { usePages } from "../graph/pages";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { Empty } from "../ui/Empty";
import { FindBox } from "../ui/FindBox";
import { MoreLinks } from "../ui/MoreLinks";
import { PageHead } from "../ui/Page";
import { Problem } from "../ui/Problem";
import { Rows } from "../ui/Rows";
import { When } from "../ui/When";
import { Contexts as Ask } from "./contexts.gql";
import "./contexts.css";
import type { ContextsSearch } from "./address";
import { Shared } from "./Shared";

/** The contexts of one's account. */
export function Contexts() {
  const { text } = useText();
  const me = useMe();
  const search = useSearch({ from: "/inside/contexts" });
  const navigate = useNavigate();
  const change = (to: ContextsSearch) => navigate({ to: ".", search: { ...search, ...to }, replace: true });
  return (
    <div className="split">
      <div className="list">
        <PageHead title={text.contexts.title}>{me.can("context.write") && <><MoreLinks of={[{ to: "/contexts/deleted", label: text.ui.recentlyDeleted }]} /><NewContext /></>}</PageHead>
        <Group gap="xs">
          <FindBox label={text.contexts.find} value={search.find} change={(find) => change({ find })} flex={1} miw="12rem" />
          <NativeSelect
            aria-label={text.contexts.share} value={search.share ?? "any"}
            data={(["any", "shared", "private"] as const).map((value) => ({ value, label: text.contexts.shares[value] }))}
            onChange={({ currentTarget: { value } }) => change({ share: value === "shared" || value === "private" ? value : undefined })}
          />
          <NativeSelect
            aria-label={text.contexts.order} value={search.order ?? "name"}
            data={(["name", "newest"] as const).map((value) => ({ value, label: text.contexts.orders[value] }))}
            onChange={({ currentTarget: { value } }) => change({ order: value === "newest" ? value : undefined })}
          />
        </Group>
        <List search={search} clear={() => navigate({ to: ".", search: {}, replace: true })} />
      </div>
      <Outlet />
    </div>
  );
}

function NewContext() {
  const { text } = useText();
  return (
    <Button renderRoot={(props) => <Link to="/contexts/new" search={true} {...props} />} leftSection={<IconPlus size={16} aria-hidden />}>{text.contexts.create}</Button>
  );
}

function List({ search, clear }: { search: ContextsSearch; clear: () => void }) {
  const { text, format } = useText();
  const me = useMe();
  const navigate = useNavigate();
  const [find] = useDebouncedValue(search.find, 200);
  const pages = usePages(
    Ask,
    {
      filter: { search: find ?? null, shareState: search.share ? Number(search.share === "shared") : null },
      orderBy: [search.order === "newest" ? { field: "CREATED_AT", direction: "DESC" } : { field: "NAME", direction: "ASC" }],
    },
    ({ contexts }) => contexts,
  );
  const onShow = useCallback((first: number, last: number) => pages.show(first, last), [pages]);
  if (pages.error) return <Problem error={pages.error} again={() => pages.retry()} />;
  if (pages.known && pages.rows.length === 0) {
    return find || search.share
      ? <Empty title={text.contexts.noneFound} hint={text.contexts.noneFoundHint} action={<Button variant="default" onClick={clear}>{text.contexts.clear}</Button>} />
      : <Empty title={text.contexts.none} hint={me.can("context.write") ? text.contexts.noneHint : text.contexts.noneToRead} action={me.can("context.write") && <NewContext />} />;
  }
  return (
    <Rows
      label={text.contexts.title} count={pages.rows.length} more={pages.more} onShow={onShow} height={56}
      keyOf={(index) => pages.rows[index]!.id}
      onOpen={(index) => navigate({ to: "/contexts/$contextId", params: { contextId: String(pages.rows[index]!.databaseId) } })}
      render={(index) => {
        const { name, caption, icon, shareState, createdAt, documents } = pages.rows[index]!;
        return (
          <>
            <span className="context-icon" aria-hidden>{icon || name.charAt(0).toUpperCase()}</span>
            <span className="cell wide two"><span>{name}</span><span className="quiet">{caption}</span></span>
            <span className="cell spare quiet">{text.contexts.documentCount(documents.totalCount, format.number(documents.totalCount))}</span>
            <span className="cell spare quiet"><When at={createdAt} /></span>
            <Shared state={shareState} />
          </>
        );
      }}
    />
  );
}
