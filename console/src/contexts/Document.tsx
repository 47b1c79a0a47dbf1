import { Alert, Anchor, Breadcrumbs, Button, Group, Progress, Skeleton, Stack, Text } from "@mantine/core";
import { IconAlertTriangle, IconDownload, IconRefresh, IconTrash } from "@tabler/icons-react";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { useAsk, useChange, useLookup } from "../graph/hooks";
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
import { DeleteDocument, Document as Ask, type DocumentResult, Original as OriginalLink, ReprocessDocument } from "./contexts.gql";
import { formatOf } from "./files";
import { Status } from "./Status";

type Whole = DocumentResult["documents"]["nodes"][number];

/** One document: its text as it is searched, and what is known of it. */
export function Document() {
  const { text } = useText();
  const { contextId, documentId } = useParams({ from: "/inside/contexts/$contextId/documents/$documentId" });
  const { data, error, again } = useAsk(Ask, { id: documentId, contextId });
  useOnChanges(again);
  if (error && !data) return <Problem error={error} again={again} />;
  if (!data) return <Skeleton height={300} />;
  const [document] = data.documents.nodes;
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
          <Original id={String(document.databaseId)} />
          {me.can("context.write") && <Actions document={document} contextId={contextId} />}
        </Group>
      </div>
      <div className="beside">
        <TextOf document={document} />
        <About document={document} />
      </div>
    </>
  );
}

/** Leads to the file as it was uploaded, by a link that is made for this once. */
function Original({ id }: { id: string }) {
  const { text } = useText();
  const { attempt } = useNotices();
  const link = useLookup(OriginalLink);
  const open = async () => {
    const [document] = (await link({ id })).documents.nodes;
    if (document?.originalUrl) window.location.assign(document.originalUrl);
  };
  return <Button size="xs" variant="default" leftSection={<IconDownload size={14} aria-hidden />} onClick={() => attempt(open)}>{text.contexts.original}</Button>;
}

function Actions({ document: { id, displayName, status }, contextId }: { document: Whole; contextId: string }) {
  const { text } = useText();
  const navigate = useNavigate();
  const { attempt, say } = useNotices();
  const reprocess = useChange(ReprocessDocument);
  const remove = useChange(DeleteDocument);
  const [asking, setAsking] = useState(false);
  const goes = status === "pending" || status === "processing";
  return (
    <>
      <Button size="xs" variant="default" leftSection={<IconRefresh size={14} aria-hidden />} disabled={goes} onClick={() => attempt(() => reprocess({ input: { id } }))}>
        {status === "failed" ? text.ui.tryAgain : text.contexts.readAgain}
      </Button>
      <Button size="xs" variant="default" leftSection={<IconTrash size={14} aria-hidden />} onClick={() => setAsking(true)}>{text.contexts.remove}</Button>
      {asking && (
        <Confirm
          title={text.contexts.removeDocument(displayName)} button={text.contexts.remove} close={() => setAsking(false)}
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

/** The text, or why there is none. */
function TextOf({ document }: { document: Whole }) {
  const { text } = useText();
  const { chunk, prompt, from, to } = useSearch({ from: "/inside/contexts/$contextId/documents/$documentId" });
  switch (document.status) {
    case "ready":
      return document.chunkCount === 0
        ? <Empty title={text.contexts.noText} hint={text.contexts.noTextHint} />
        : <Chunks id={String(document.databaseId)} count={document.chunkCount} at={chunk} cited={from === undefined || to === undefined ? undefined : { start: from, end: to }} prompt={prompt ?? ""} />;
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

function About({ document }: { document: Whole }) {
  const { text, format } = useText();
  const took = document.startedAt && document.completedAt && (Date.parse(document.completedAt) - Date.parse(document.startedAt)) / 1000;
  return (
    <aside aria-label={text.contexts.about}>
      <Stack>
        {document.warnings.length > 0 && (
          <Alert color="yellow" icon={<IconAlertTriangle aria-hidden />} title={text.contexts.notWhole}>
            {document.warnings.map(({ message }) => <Text key={message} size="sm">{message}</Text>)}
          </Alert>
        )}
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
      </Stack>
    </aside>
  );
}
