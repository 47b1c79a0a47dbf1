import { Button, Text } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { CanopyError } from "canopy-client";
import { useEffect, useState } from "react";
import { useLookup } from "../graph/hooks";
import { canopy } from "../session/session";
import { useText } from "../text";
import { Empty } from "../ui/Empty";
import "../ui/lists.css";
import { Problem } from "../ui/Problem";
import { useNotices } from "../ui/useNotices";
import { Waiting } from "../ui/Waiting";
import { type DocumentResult, Original as OriginalLink } from "./contexts.gql";
import { formatOf } from "./files";

type Whole = NonNullable<DocumentResult["documents"]>["nodes"][number];

// So many bytes of a text are shown: a table may have millions of rows.
const mostText = 1 << 20;
const texts: readonly string[] = ["txt", "md", "csv", "html", "htm"];

/** Leads to the file as it was uploaded, by a link that is made for this once. */
export function Download({ id }: { id: string }) {
  const { text } = useText();
  const { attempt } = useNotices();
  const link = useLookup(OriginalLink);
  const open = async () => {
    const { documents } = await link({ id });
    const address = documents?.nodes[0]?.originalUrl;
    if (address) window.location.assign(address);
  };
  return <Button size="xs" variant="default" leftSection={<IconDownload size={14} aria-hidden />} onClick={() => attempt(open)}>{text.contexts.original}</Button>;
}

/** The file as it was uploaded, as far as browsers show its kind: the pages of a PDF, or the characters of a text. */
export function Original({ document, page }: { document: Whole; page: number | undefined }) {
  const { text } = useText();
  const format = formatOf(document.originalName);
  if (format !== "pdf" && !texts.includes(format)) {
    return <Empty title={text.contexts.notShown(format.toUpperCase())} hint={text.contexts.notShownHint} action={<Download id={String(document.databaseId)} />} />;
  }
  return <Loaded key={document.id} document={document} isPDF={format === "pdf"} page={page} />;
}

function Loaded({ document: { databaseId, displayName }, isPDF, page }: { document: Whole; isPDF: boolean; page: number | undefined }) {
  const { file, error, again } = useFile(String(databaseId));
  if (error) return <Problem error={error} again={again} />;
  if (!file) return <Waiting m="md" />;
  return isPDF ? <Pages file={file} name={displayName} page={page} /> : <Characters file={file} />;
}

/** A PDF in the browser's own viewer, which opens each page anew. */
function Pages({ file, name, page }: { file: Blob; name: string; page: number | undefined }) {
  const { text } = useText();
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    // Whatever the file is, the browser takes it for a PDF, and runs nothing of it as a page of the platform.
    const made = URL.createObjectURL(new Blob([file], { type: "application/pdf" }));
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [file]);
  return address && <iframe key={page} className="original" title={text.contexts.fileOf(name)} src={`${address}#navpanes=0&view=FitH&page=${page ?? 1}`} />;
}

function Characters({ file }: { file: Blob }) {
  const { text } = useText();
  const [shown, setShown] = useState("");
  useEffect(() => {
    let over = false;
    void file.slice(0, mostText).text().then((characters) => over || setShown(characters));
    return () => void (over = true);
  }, [file]);
  return (
    <>
      <pre className="wire wrap original" tabIndex={0} aria-label={text.contexts.file}>{shown}</pre>
      {file.size > mostText && <Text size="xs" c="dimmed">{text.contexts.fileBeginning}</Text>}
    </>
  );
}

/** Loads the file from the platform, wherever that keeps it. */
function useFile(id: string): { file: Blob | undefined; error: CanopyError | undefined; again: () => void } {
  const [tries, setTries] = useState(0);
  const [loaded, setLoaded] = useState<{ file?: Blob; error?: CanopyError }>({});
  useEffect(() => {
    const stop = new AbortController();
    setLoaded({});
    canopy.fetch(`/context/document/${id}/original`, { signal: stop.signal }).then((answer) => answer.blob()).then(
      (file) => stop.signal.aborted || setLoaded({ file }),
      (why: unknown) => stop.signal.aborted || setLoaded({ error: why instanceof CanopyError ? why : new CanopyError("UNREACHABLE", "the file can't be loaded", { cause: why }) }),
    );
    return () => stop.abort();
  }, [id, tries]);
  return { file: loaded.file, error: loaded.error, again: () => setTries(tries + 1) };
}
