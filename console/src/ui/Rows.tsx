import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";

export interface RowsProps {
  /** What a screen reader calls the list. */
  label: string;
  count: number;
  /** The row that the keyboard begins at; the first one otherwise. */
  begin?: number;
  /** There are rows beyond those; one that says so is shown at the end. */
  more: boolean;
  /** Pixels. */
  height?: number;
  render: (index: number) => ReactNode;
  /** A key that stays with the row. */
  keyOf: (index: number) => string;
  /** Says which rows are seen, the last one included. */
  onShow: (first: number, last: number) => void;
  /** Opens a row, by a click or Enter. */
  onOpen: (index: number) => void;
  /** The row that is open. */
  isOpen?: (index: number) => boolean;
  /** What the keyboard does to a row besides moving and opening; true where it did something. It may give another row to go to. */
  onKey?: (key: string, index: number) => number | boolean;
  /** A tree has levels; a list of options has none. */
  tree?: { level: (index: number) => number; expanded: (index: number) => boolean | undefined };
}

/** A list of any length, of which only the rows that are seen exist. The list has the focus, and tells which row is the active one. */
export function Rows({ label, count, begin = 0, more, height = 44, render, keyOf, onShow, onOpen, isOpen, onKey, tree }: RowsProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const id = useId();
  const [active, setActive] = useState(begin);
  // Keys are React's alone: given to this, each new function for them would have it measure all rows again.
  const virtual = useVirtualizer({
    count: count + (more ? 1 : 0),
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: 12,
  });
  const items = virtual.getVirtualItems();
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => onShow(first, last), [first, last, count, onShow]);

  const goTo = (index: number) => {
    const to = Math.max(0, Math.min(count - 1, index));
    setActive(to);
    virtual.scrollToIndex(to);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || count === 0) return;
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / height) - 1);
    const moves: Record<string, number> = {
      ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + page, PageUp: active - page, Home: 0, End: count - 1,
    };
    const to = moves[event.key];
    if (to !== undefined) goTo(to);
    else if (event.key === "Enter" || event.key === " ") onOpen(active);
    else {
      const done = onKey?.(event.key, active) ?? false;
      if (done === false) return;
      if (done !== true) goTo(done);
    }
    event.preventDefault();
  };

  return (
    <div
      className="rows" ref={scroller} tabIndex={0} role={tree ? "tree" : "listbox"} aria-label={label} aria-busy={count === 0 && more} onKeyDown={onKeyDown}
      aria-activedescendant={active < count ? `${id}-${active}` : undefined}
    >
      <div role="presentation" style={{ height: virtual.getTotalSize(), position: "relative" }}>
        {items.map(({ index, start, size }) => {
          const key = index < count ? keyOf(index) : "more";
          const place = { height: size, transform: `translateY(${start}px)` };
          if (index >= count) return <div key={key} className="row quiet" role="presentation" style={place}>…</div>;
          return (
            <div
              key={key} id={`${id}-${index}`} className="row" style={place}
              role={tree ? "treeitem" : "option"} aria-level={tree?.level(index)} aria-expanded={tree?.expanded(index)}
              aria-selected={isOpen?.(index) ?? false} data-active={index === active || undefined}
              onClick={() => {
                setActive(index);
                onOpen(index);
              }}
            >
              {render(index)}
            </div>
          );
        })}
      </div>
    </div>
  );
}
