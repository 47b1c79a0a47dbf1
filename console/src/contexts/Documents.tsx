import { Button, Group, NativeSelect } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useCallback, useSyncExternalStore } from "react";
import { usePages } from "../graph/pages";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { Empty } from "../ui/Empty";
import { FindBox } from "../ui/FindBox";
import { Problem } from "../ui/Problem";
import { Rows } from "../ui/Rows";
import { When } from "../ui/When";
import { AddDocuments } from "./AddDocuments";
import { useOnChanges } from "./changes";
import { ContextHead, useContextOf } from "./Context";
import { Documents as Ask } from "./contexts.gql";
import { Failed } from "./Failed";
import { formatOf } from "./files";
import { documentOrders, type DocumentsSearch, statuses } from "./address";
import { Reprocessing } from "./Reprocessing";
import { Searchable } from "./Searchable";
import { Status } from "./Status";
import { UploadPanel } from "./UploadPanel";
import { uploadsInto } from "./uploads";

/** The documents of a context, those on their way there, and those that could not be read. */
export function Documents() {
  const { text } = useText();
  const me = useMe();
  const { contextId } = useParams({ from: "/inside/contexts/$contextId/" });
  const search = useSearch({ from: "/inside/contexts/$contextId/" });
  const navigate = useNavigate();
  const { context } = useContextOf(contextId);
  const change = (to: DocumentsSearch) => navigate({ to: ".", search: { ...search, ...to }, replace: true });
  if (!context) return null;
  return (
    <>
      <ContextHead context={context} />
      <Group gap="xs">
        {me.can("context.write") && <AddDocuments contextId={contextId} />}
        <FindBox label={text.contexts.findDocument} value={search.find} change={(find) => change({ find })} flex={1} miw="12rem" />
        <NativeSelect
          aria-label={text.contexts.status} value={search.status ?? ""}
          data={[{ value: "", label: text.contexts.anyStatus }, ...statuses.map((value) => ({ value, label: text.contexts.statuses[value] }))]}
          onChange={({ currentTarget: { value } }) => change({ status: statuses.find((status) => status === value) })}
        />
        <NativeSelect
          aria-label={text.contexts.order} value={search.order ?? "newest"}
          data={documentOrders.map((value) => ({ value, label: text.contexts.orders[value] }))}
          onChange={({ currentTarget: { value } }) => change({ order: documentOrders.find((order) => order === value && order !== "newest") })}
        />
        {me.can("context.write") && (
          <Button renderRoot={(props) => <Link to="/contexts/$contextId/deleted" params={{ contextId }} {...props} />} variant="subtle">{text.ui.recentlyDeleted}</Button>
        )}
      </Group>
      {me.can("context.write") && <UploadPanel contextId={contextId} />}
      <Reprocessing contextId={contextId} />
      <Searchable contextId={contextId} />
      {search.status !== "failed" && <Failed contextId={contextId} showAll={() => change({ status: "failed" })} />}
      <List contextId={contextId} search={search} clear={() => navigate({ to: ".", search: {}, replace: true })} />
    </>
  );
}

const orders = {
  newest: { field: "CREATED_AT", direction: "DESC" },
  name: { field: "NAME", direction: "ASC" },
  size: { field: "SIZE", direction: "DESC" },
  status: { field: "STATUS", direction: "ASC" },
} as const;

function List({ contextId, search, clear }: { contextId: string; search: DocumentsSearch; clear: () => void }) {
  const { text, format } = useText();
  const me = useMe();
  const navigate = useNavigate();
  const [find] = useDebouncedValue(search.find, 200);
  const pages = usePages(
    Ask,
    { filter: { contextId, search: find ?? null, status: search.status ?? null }, orderBy: [orders[search.order ?? "newest"]] },
    ({ documents }) => documents,
  );
  useOnChanges(() => pages.anew());
  const uploads = uploadsInto(contextId);
  useSyncExternalStore(uploads.subscribe, uploads.version);
  const onShow = useCallback((first: number, last: number) => pages.show(first, last), [pages]);
  if (pages.error) return <Problem error={pages.error} again={() => pages.retry()} />;
  if (pages.known && pages.rows.length === 0) {
    // What is sent is about to stand here.
    if (uploads.busy || uploads.taken > 0) return null;
    return find || search.status
      ? <Empty title={text.contexts.noDocumentFound} hint={text.contexts.noneFoundHint} action={<Button variant="default" onClick={clear}>{text.contexts.clear}</Button>} />
      : <div className="target"><Empty title={text.contexts.noDocument} hint={me.can("context.write") ? text.contexts.noDocumentHint : text.contexts.noDocumentToRead} /></div>;
  }
  return (
    <Rows
      label={text.contexts.documents} count={pages.rows.length} more={pages.more} onShow={onShow}
      keyOf={(index) => pages.rows[index]!.id}
      onOpen={(index) => navigate({ to: "/contexts/$contextId/documents/$documentId", params: { contextId, documentId: String(pages.rows[index]!.databaseId) } })}
      render={(index) => {
        const document = pages.rows[index]!;
        return (
          <>
            <span className="cell wide">{document.displayName}</span>
            <span className="cell spare kind quiet">{formatOf(document.originalName)}</span>
            <span className="cell spare quiet">{format.bytes(document.size)}</span>
            <span className="cell spare quiet"><When at={document.createdAt} /></span>
            <span className="state"><Status of={document} /></span>
          </>
        );
      }}
    />
  );
}
