import { Alert, Anchor, Breadcrumbs, Button, Group, Progress, SegmentedControl, Skeleton, Stack, Text } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { IconAlertTriangle, IconRefresh, IconTrash } from "@tabler/icons-react";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { useAsk, useChange } from "../graph/hooks";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { Confirm } from "../ui/Confirm";
import { CopyText } from "../ui/CopyText";
import { Empty } from "../ui/Empty";
import { Facts } from "../ui/Facts";
import { PageHead } from "../ui/Page";
import { Problem } from "../ui/Problem";
import { useNotices } from "../ui/useNotices";
import { When } from "../ui/When";
import { useOnChanges } from "./changes";
import { Chunks } from "./Chunks";
import { DeleteDocument, Document as Ask, type DocumentResult, ReprocessDocument, RestoreDocument } from "./contexts.gql";
import { formatOf } from "./files";
import { Download, Original } from "./Original";
import { PageBox } from "./PageBox";
import { besides } from "./address";
import { Status } from "./Status";

type Whole = NonNullable<DocumentResult["documents"]>["nodes"][number];

/** One document: its text as it is searched, and what is known of it. */
export function Document() {
  const { text } = useText();
  const { contextId, documentId } = useParams({ from: "/inside/contexts/$contextId/documents/$documentId" });
  const { data, error, again } = useAsk(Ask, { id: documentId, contextId });
  useOnChanges(again);
  const documents = data?.documents?.nodes;
  if (!documents) return error ? <Problem error={error} again={again} /> : <Skeleton height={300} />;
  const [document] = documents;
  if (document) return <Shown key={document.id} document={document} contextId={contextId} />;
  return (
    <Empty
      title={text.contexts.goneDocument} hint={text.contexts.goneDocumentHint}
      action={<Button renderRoot={(props) => <Link to="/contexts/$contextId" params={{ contextId }} {...props} />} variant="default">{text.contexts.toDocuments}</Button>}
    />
  );
}

function Shown({ document, contextId }: { document: Whole; contextId: string }) {
  const { text } = useText();
  const me = useMe();
  return (
    <>
      <div>
        <Breadcrumbs separatorMargin={6}>
          <Anchor component={Link} to="/contexts" size="sm">{text.contexts.title}</Anchor>
          <Anchor component={Link} to={`/contexts/${contextId}`} size="sm">{document.context.name}</Anchor>
        </Breadcrumbs>
        <PageHead title={document.displayName} />
        <Group gap="xs" mt="xs">
          <Download id={String(document.databaseId)} />
          {me.can("context.write") && <Actions document={document} contextId={contextId} />}
        </Group>
      </div>
      <div className="beside">
        <TextOf document={document} />
        <Beside document={document} />
      </div>
    </>
  );
}

function Actions({ document: { id, displayName, status }, contextId }: { document: Whole; contextId: string }) {
  const { text } = useText();
  const navigate = useNavigate();
  const { attempt, offer, say } = useNotices();
  const reprocess = useChange(ReprocessDocument);
  const remove = useChange(DeleteDocument);
  const restore = useChange(RestoreDocument);
  const [asking, setAsking] = useState(false);
  const hide = () => attempt(async () => {
    await remove({ input: { id, restorable: true } });
    await navigate({ to: "/contexts/$contextId", params: { contextId } });
    offer(text.contexts.removedForNow(displayName), () => restore({ input: { id } }));
  });
  const goes = status === "pending" || status === "processing";
  return (
    <>
      <Button size="xs" variant="default" leftSection={<IconRefresh size={14} aria-hidden />} disabled={goes} onClick={() => attempt(() => reprocess({ input: { id } }))}>
        {status === "failed" ? text.ui.tryAgain : text.contexts.readAgain}
      </Button>
      <Button size="xs" variant="default" leftSection={<IconTrash size={14} aria-hidden />} onClick={hide}>{text.contexts.remove}</Button>
      <Button size="xs" variant="subtle" c="var(--mantine-color-error)" onClick={() => setAsking(true)}>{text.contexts.deleteForGood}</Button>
      {asking && (
        <Confirm
          title={text.contexts.deleteOf(displayName)} button={text.contexts.deleteForGood} close={() => setAsking(false)}
          work={async () => {
            await remove({ input: { id } });
            say(text.contexts.removed(displayName));
            await navigate({ to: "/contexts/$contextId", params: { contextId } });
          }}
        >
          {text.contexts.removeDocumentHint}
        </Confirm>
      )}
    </>
  );
}

const from = "/inside/contexts/$contextId/documents/$documentId";

/** The text, or why there is none. */
function TextOf({ document }: { document: Whole }) {
  const { text } = useText();
  switch (document.status) {
    case "ready":
      return document.chunkCount === 0 ? <Empty title={text.contexts.noText} hint={text.contexts.noTextHint} /> : <Read document={document} />;
    case "failed":
      return (
        <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title={text.contexts.notReadable} style={{ alignSelf: "start" }}>
          <Text size="sm">{document.error}</Text>
          <Text size="sm" mt="xs">{text.contexts.notReadableHint}</Text>
        </Alert>
      );
    default:
      return (
        <Stack gap="xs" role="status">
          <Text>{document.status === "pending" ? text.contexts.waitsToBeRead : text.contexts.isRead}</Text>
          <Progress value={document.progress * 100} aria-label={text.contexts.readingOf(document.displayName)} />
        </Stack>
      );
  }
}

/** What was read of the document, as pieces or as one text, with the way to each page. */
function Read({ document: { databaseId, chunkCount, beginning } }: { document: Whole }) {
  const { text } = useText();
  const search = useSearch({ from });
  const navigate = useNavigate();
  const { chunk, prompt, page, as } = search;
  const hasPages = beginning.nodes[0]?.page != null;
  const cited = search.from === undefined || search.to === undefined ? undefined : { start: search.from, end: search.to };
  return (
    <div className="read">
      <Group gap="xs" justify="space-between" mih="2rem">
        <SegmentedControl
          size="xs" aria-label={text.contexts.text} value={as ?? "pieces"} data={(["pieces", "text"] as const).map((value) => ({ value, label: text.contexts.as[value] }))}
          onChange={(value) => navigate({ to: ".", search: { ...search, as: value === "text" ? value : undefined }, replace: true })}
        />
        {hasPages && <PageBox page={page ?? 1} go={(to) => navigate({ to: ".", search: { prompt, as, beside: search.beside, page: to }, replace: true })} />}
      </Group>
      <Chunks key={as} id={String(databaseId)} count={chunkCount} at={chunk} page={page} whole={as === "text"} cited={cited} prompt={prompt ?? ""} />
    </div>
  );
}

/** What is chosen of a document to stand beside its text: the file itself, or what is known of it. */
function Beside({ document }: { document: Whole }) {
  const { text } = useText();
  const search = useSearch({ from });
  const navigate = useNavigate();
  // Where the file has no place beside the text, it is loaded by those who ask for it.
  const wide = useMediaQuery("(min-width: 62em)", true, { getInitialValueInEffect: false });
  const beside: (typeof besides)[number] = search.beside ?? (wide ? "file" : "about");
  return (
    <aside aria-label={text.contexts[beside]} className={beside}>
      <SegmentedControl
        size="xs" aria-label={text.contexts.besideText} value={beside} data={besides.map((value) => ({ value, label: text.contexts[value] }))}
        onChange={(value) => navigate({ to: ".", search: { ...search, beside: besides.find((one) => one === value) }, replace: true })}
      />
      <Warning title={text.contexts.notWhole} of={document.warnings.filter(({ code }) => code !== stays)} />
      <Warning title={text.contexts.notReadAnew} hint={text.contexts.notReadAnewHint} of={document.warnings.filter(({ code }) => code === stays)} />
      {beside === "file" ? <Original document={document} page={search.page} /> : <About document={document} />}
    </aside>
  );
}

/** The code of the warning that a document is what it was before, as it could not be read again. */
const stays = "not_reprocessed";

function Warning({ title, hint, of }: { title: string; hint?: string; of: Whole["warnings"] }) {
  if (of.length === 0) return null;
  return (
    <Alert color="yellow" icon={<IconAlertTriangle aria-hidden />} title={title}>
      {hint && <Text size="sm">{hint}</Text>}
      {of.map(({ message }) => <Text key={message} size="sm">{message}</Text>)}
    </Alert>
  );
}

function About({ document }: { document: Whole }) {
  const { text, format } = useText();
  const took = document.startedAt && document.completedAt && (Date.parse(document.completedAt) - Date.parse(document.startedAt)) / 1000;
  return (
    <>
      <Facts of={[
        [text.contexts.status, <Status key="status" of={document} />],
        [text.contexts.format, formatOf(document.originalName).toUpperCase()],
        [text.contexts.size, format.bytes(document.size)],
        [text.contexts.pieces, format.number(document.chunkCount)],
        [text.contexts.added, <When key="added" at={document.createdAt} />],
        ...(document.creator ? [[text.contexts.addedBy, document.creator.name] as const] : []),
        ...(typeof took === "number" ? [[text.contexts.took, text.contexts.seconds(format.number(Math.round(took * 10) / 10))] as const] : []),
        [text.contexts.originalName, document.originalName],
        [text.contexts.type, document.contentType],
        [text.contexts.id, document.databaseId],
      ]} />
      <CopyText value={document.contentHash} label={text.contexts.copyHash} />
    </>
  );
}
