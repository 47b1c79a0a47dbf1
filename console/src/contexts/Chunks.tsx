import { Loader } from "@mantine/core";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef } from "react";
import { usePages } from "../graph/pages";
import { useText } from "../text";
import { Problem } from "../ui/Problem";
import { type ChunksResult, Chunks as Ask } from "./contexts.gql";
import { Marked, type Span } from "./Marked";
import { placeOf } from "./place";

type Chunk = NonNullable<ChunksResult["documents"]["nodes"][number]["chunks"]>["nodes"][number];

/** The pieces of a document in their order. Only those that are seen exist. */
export function Chunks({ id, count, at, cited, prompt }: { id: string; count: number; at: number | undefined; cited: Span | undefined; prompt: string }) {
  const { text } = useText();
  const scroller = useRef<HTMLDivElement>(null);
  const pages = usePages(Ask, { id }, ({ documents }) => documents.nodes[0]?.chunks);
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
  const gone = useRef<number>(undefined);
  useEffect(() => {
    if (at === undefined || gone.current === at) return;
    if (at < pages.rows.length) {
      gone.current = at;
      virtual.scrollToIndex(at, { align: "start" });
      if (cited) showCited(scroller.current!);
    } else if (pages.known && pages.more) pages.show(first, at);
  });

  return (
    <div className="chunks" ref={scroller} role="feed" aria-label={text.contexts.text} aria-busy={!pages.known} tabIndex={0}>
      {pages.error && <Problem error={pages.error} again={() => pages.retry()} />}
      {!pages.known && !pages.error && <Loader aria-label={text.ui.loading} m="md" />}
      <div role="presentation" style={{ height: virtual.getTotalSize(), position: "relative" }}>
        {items.map(({ index, key, start }) => (
          <Piece key={key} chunk={pages.rows[index]!} index={index} count={count} at={index === at} cited={index === at ? cited : undefined} prompt={prompt} start={start} measure={virtual.measureElement} />
        ))}
      </div>
    </div>
  );
}

interface PieceProps {
  chunk: Chunk;
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

function Piece({ chunk, index, count, at, cited, prompt, start, measure }: PieceProps) {
  const { text } = useText();
  const { content, overlapBytes, position } = chunk;
  const [before, own] = useMemo(() => cut(content, overlapBytes), [content, overlapBytes]);
  const skipped = useMemo(() => [...before].length, [before]);
  return (
    <article
      className="chunk" ref={measure} data-index={index} data-at={at || undefined} style={{ transform: `translateY(${start}px)` }}
      aria-posinset={position + 1} aria-setsize={count} aria-label={text.contexts.pieceOf(position + 1, count)} aria-current={at || undefined}
    >
      <header className="quiet">{text.contexts.pieceOf(position + 1, count)}{hasPlace(chunk) && ` · ${placeOf(chunk, text)}`}</header>
      <p className="piece">
        {before && <span className="quiet" title={text.contexts.overlapping}><Marked text={before} prompt={prompt} cited={cited} /></span>}
        <Marked text={own} prompt={prompt} cited={cited && { start: cited.start - skipped, end: cited.end - skipped }} />
      </p>
    </article>
  );
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

const hasPlace = ({ page, heading, row }: Chunk) => page !== null || heading !== null || row !== null;

/** Cuts off what stands in the pieces before, too. */
function cut(content: string, overlapBytes: number): [before: string, own: string] {
  if (overlapBytes === 0) return ["", content];
  const bytes = new TextEncoder().encode(content);
  const decoder = new TextDecoder();
  return [decoder.decode(bytes.subarray(0, overlapBytes)), decoder.decode(bytes.subarray(overlapBytes))];
}
