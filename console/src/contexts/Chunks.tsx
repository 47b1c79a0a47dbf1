import { Anchor } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef } from "react";
import { usePages } from "../graph/pages";
import { useText } from "../text";
import { Problem } from "../ui/Problem";
import { Waiting } from "../ui/Waiting";
import { type ChunksResult, Chunks as Ask } from "./contexts.gql";
import { Marked, type Span } from "./Marked";
import { placeOf } from "./place";
import type { DocumentSearch } from "./address";

type Chunk = NonNullable<NonNullable<ChunksResult["documents"]>["nodes"][number]["chunks"]>["nodes"][number];

interface ChunksProps {
  id: string;
  count: number;
  /** The piece to begin at; else that of the page. */
  at: number | undefined;
  page: number | undefined;
  /** As one text, in which nothing stands twice. */
  whole: boolean;
  /** What is cited of the piece to begin at. */
  cited: Span | undefined;
  prompt: string;
}

/** The pieces of a document in their order. Only those that are seen exist. */
export function Chunks({ id, count, at, page, whole, cited, prompt }: ChunksProps) {
  const { text } = useText();
  const scroller = useRef<HTMLDivElement>(null);
  const pages = usePages(Ask, { id }, ({ documents }) => documents?.nodes[0]?.chunks);
  const virtual = useVirtualizer({
    count: pages.rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 300,
    getItemKey: (index) => pages.rows[index]!.id,
    overscan: 3,
  });
  const items = virtual.getVirtualItems();
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => pages.show(first, last), [pages, first, last, pages.rows.length]);

  // A place far down is there once the pages before it are.
  const gone = useRef("");
  const place = `${at} ${page}`;
  useEffect(() => {
    if ((at === undefined && page === undefined) || gone.current === place) return;
    const to = at ?? pieceOfPage(pages.rows, page!, !pages.more);
    if (to !== undefined && to < pages.rows.length) {
      gone.current = place;
      virtual.scrollToIndex(to, { align: "start" });
      if (cited) showCited(scroller.current!);
    } else if (pages.known && pages.more) pages.show(first, at ?? pages.rows.length);
  });

  return (
    <div className="chunks" ref={scroller} role="feed" aria-label={text.contexts.text} aria-busy={!pages.known} tabIndex={0}>
      {pages.error && <Problem error={pages.error} again={() => pages.retry()} />}
      {!pages.known && !pages.error && <Waiting m="md" />}
      <div role="presentation" style={{ height: virtual.getTotalSize(), position: "relative" }}>
        {items.map(({ index, key, start }) => (
          <Piece key={key} chunk={pages.rows[index]!} before={pages.rows[index - 1]} whole={whole} index={index} count={count} at={index === at} cited={index === at ? cited : undefined} prompt={prompt} start={start} measure={virtual.measureElement} />
        ))}
      </div>
    </div>
  );
}

interface PieceProps {
  chunk: Chunk;
  /** The piece before. */
  before: Chunk | undefined;
  whole: boolean;
  index: number;
  count: number;
  /** It is the one that was looked for. */
  at: boolean;
  /** What is cited of it. */
  cited: Span | undefined;
  prompt: string;
  /** Pixels from the top. */
  start: number;
  measure: (element: HTMLElement | null) => void;
}

function Piece({ chunk, before, whole, index, count, at, cited, prompt, start, measure }: PieceProps) {
  const { text } = useText();
  const { content, overlapBytes, position } = chunk;
  const [repeated, own] = useMemo(() => cut(content, overlapBytes), [content, overlapBytes]);
  const skipped = useMemo(() => [...repeated].length, [repeated]);
  return (
    <article
      className={whole ? "chunk runs-on" : "chunk"} ref={measure} data-index={index} data-at={at || undefined} style={{ transform: `translateY(${start}px)` }}
      aria-posinset={position + 1} aria-setsize={count} aria-label={text.contexts.pieceOf(position + 1, count)} aria-current={at || undefined}
    >
      {whole ? <NewPage page={chunk.page} before={before?.page} /> : <Place chunk={chunk} count={count} />}
      <p className="piece">
        {repeated && !whole && <span className="quiet" title={text.contexts.overlapping}><Marked text={repeated} prompt={prompt} cited={cited} /></span>}
        <Marked text={own} prompt={prompt} cited={cited && { start: cited.start - skipped, end: cited.end - skipped }} />
      </p>
    </article>
  );
}

/** Which piece it is, and where it stands: its page is shown where that leads to. */
function Place({ chunk, count }: { chunk: Chunk; count: number }) {
  const { text } = useText();
  const { position, page } = chunk;
  return (
    <header className="quiet">
      {text.contexts.pieceOf(position + 1, count)}
      {page !== null && <>{" · "}<Anchor renderRoot={(props) => <Link to="." search={(was: DocumentSearch) => ({ ...was, chunk: position, from: undefined, to: undefined, page, beside: "file" as const })} replace {...props} />} size="sm" td="underline">{text.contexts.page(page)}</Anchor></>}
      {(chunk.heading !== null || chunk.row !== null) && ` · ${placeOf({ ...chunk, page: null }, text)}`}
    </header>
  );
}

/** Tells where a page begins in a text that runs on. */
function NewPage({ page, before }: { page: number | null; before: number | null | undefined }) {
  const { text } = useText();
  return page !== null && page !== before && <header className="quiet">{text.contexts.page(page)}</header>;
}

/** The piece that a page begins in; nothing as long as it is not known which. */
function pieceOfPage(rows: readonly Chunk[], page: number, all: boolean): number | undefined {
  const next = rows.findIndex((row) => row.page !== null && row.page >= page);
  if (next >= 0) return rows[next]!.page === page ? next : Math.max(0, next - 1);
  return all ? rows.length - 1 : undefined;
}

// Frames in which a piece may come to rest, and in which it has to stay there.
const mostFrames = 120;
const restFrames = 3;

/** Brings what is cited into view as soon as its piece has come to rest: a piece may be longer than the window. */
function showCited(scroller: HTMLElement): void {
  let rested = 0;
  let before = NaN;
  const look = (frame: number) => {
    const mark = scroller.querySelector("[data-at] mark");
    const top = mark?.getBoundingClientRect().top ?? NaN;
    rested = top === before ? rested + 1 : 0;
    before = top;
    if (rested >= restFrames) mark!.scrollIntoView({ block: "nearest" });
    else if (frame < mostFrames) requestAnimationFrame(() => look(frame + 1));
  };
  look(0);
}

/** Cuts off what stands in the pieces before, too. */
function cut(content: string, overlapBytes: number): [before: string, own: string] {
  if (overlapBytes === 0) return ["", content];
  const bytes = new TextEncoder().encode(content);
  const decoder = new TextDecoder();
  return [decoder.decode(bytes.subarray(0, overlapBytes)), decoder.decode(bytes.subarray(overlapBytes))];
}
