import type { Client } from "@urql/core";
import type { CanopyError, Page, TypedDocument } from "canopy-client";
import { useCallback, useEffect, useMemo, useRef, useSyncExternalStore } from "react";
import { type AnyVariables, useClient } from "urql";
import { pipe, subscribe } from "wonka";
import { errorOf } from "./hooks";

// The next page is asked for when fewer rows than these are left below what is seen.
const ahead = 40;

interface Part<T> {
  after: string | null;
  rows: readonly T[];
  next: string | null;
  known: boolean;
  stop: (() => void) | undefined;
}

/** Gives the page of a list that begins after a cursor, whenever it changes, until the function that it gives is called. */
type Open<T> = (after: string | null, known: boolean, tell: (page: Page<T> | null | undefined, error: CanopyError | undefined) => void) => () => void;

/**
 * A list, a page at a time, as long as the platform has it. Pages that are seen follow the cache; of the others the rows are kept as
 * they were, so that 100,000 of them cost their memory and nothing else.
 */
export class Pages<T> {
  /** The rows that are known. The array is always the same. */
  readonly rows: T[] = [];
  error: CanopyError | undefined;
  readonly #open: Open<T>;
  readonly #parts: Part<T>[] = [];
  readonly #listeners = new Set<() => void>();
  #version = 0;

  constructor(open: Open<T>) {
    this.#open = open;
  }

  /** The first page is there. */
  get known(): boolean {
    return this.#parts[0]?.known ?? false;
  }

  /** There are rows that are not known. */
  get more(): boolean {
    const last = this.#parts.at(-1);
    return !last || !last.known || last.next !== null;
  }

  /** Says which rows are seen. */
  show(first: number, last: number): void {
    if (this.#parts.length === 0) this.#append(null);
    const end = this.#parts.at(-1)!;
    if (end.known && end.next !== null && last >= this.rows.length - ahead) this.#append(end.next);
    let from = 0;
    for (const part of this.#parts) {
      const to = from + part.rows.length;
      const seen = !part.known || (from <= last && to > first) || (from === 0 && to === 0);
      if (seen) this.#watch(part);
      else this.#unwatch(part);
      from = to;
    }
  }

  /** Asks again after a failure. */
  retry(): void {
    this.error = undefined;
    const end = this.#parts.at(-1);
    if (end) {
      this.#unwatch(end);
      this.#watch(end);
    }
    this.#tell();
  }

  /** Asks once more for the first page, where new rows come, and for those that are seen. */
  anew(): void {
    for (const part of this.#parts.filter(({ known, stop }, place) => known && (place === 0 || stop))) {
      this.#unwatch(part);
      this.#watch(part, false);
    }
  }

  close(): void {
    this.#parts.forEach((part) => this.#unwatch(part));
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** A number that grows with every change. */
  readonly version = (): number => this.#version;

  #append(after: string | null): void {
    const part: Part<T> = { after, rows: [], next: null, known: false, stop: undefined };
    this.#parts.push(part);
    this.#watch(part);
  }

  #watch(part: Part<T>, known = part.known): void {
    if (part.stop) return;
    let over = false;
    part.stop = () => (over = true); // what is known at once is told before there is anything to stop
    const stop = this.#open(part.after, known, (page, error) => void (over || this.#take(part, page, error)));
    part.stop = () => {
      over = true;
      stop();
    };
  }

  #unwatch(part: Part<T>): void {
    part.stop?.();
    part.stop = undefined;
  }

  #take(part: Part<T>, page: Page<T> | null | undefined, error: CanopyError | undefined): void {
    this.error = error;
    if (page) {
      const next = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
      const place = this.#parts.indexOf(part);
      // Where a page ends elsewhere now, the pages behind it would repeat rows, or leave some out.
      if (part.known && next !== part.next) this.#parts.splice(place + 1).forEach((one) => this.#unwatch(one));
      part.next = next;
      part.known = true;
      part.rows = page.nodes;
      this.#fill(place);
    }
    this.#tell();
  }

  /** Puts the rows of a page, and of those behind it, in their place. */
  #fill(place: number): void {
    let from = 0;
    for (const part of this.#parts.slice(0, place)) from += part.rows.length;
    this.rows.length = from;
    for (const part of this.#parts.slice(place)) for (const row of part.rows) this.rows.push(row);
  }

  #tell(): void {
    this.#version++;
    this.#listeners.forEach((tell) => tell());
  }
}

/** Opens a list of the graph. The document has a variable `$after`; pick finds the list in its result. */
export function pagesOf<T, R, V extends { after?: string | null | undefined }>(
  client: Client, document: TypedDocument<R, V>, variables: Omit<V, "after">, pick: (result: R) => Page<T> | null | undefined,
): Pages<T> {
  const query = document.toString();
  return new Pages<T>((after, known, tell) => {
    const asked = client.query<R, AnyVariables>(query, { ...variables, after }, { requestPolicy: known ? "cache-first" : "cache-and-network" });
    return pipe(asked, subscribe(({ data, error }) => tell(data && pick(data), errorOf(error)))).unsubscribe;
  });
}

/** A list of the graph, for as long as the component is there and its variables stay. */
export function usePages<T, R, V extends { after?: string | null | undefined }>(
  document: TypedDocument<R, V>, variables: Omit<V, "after">, pick: (result: R) => Page<T> | null | undefined,
): Pages<T> {
  const client = useClient();
  const key = JSON.stringify(variables);
  const pages = useMemo(() => pagesOf(client, document, variables, pick), [client, document, key]);
  useSyncExternalStore(pages.subscribe, pages.version);
  useEffect(() => {
    pages.show(0, 0);
    return () => pages.close();
  }, [pages]);
  return pages;
}

/** For a list that grows at its top: who reads further down is not disturbed, and finds what is new when they are back. */
export function useTop<T>(pages: Pages<T>): { onShow: (first: number, last: number) => void; freshen: () => void } {
  const reading = useRef({ atTop: true, stale: false });
  const onShow = useCallback((first: number, last: number) => {
    const { stale } = reading.current;
    reading.current = { atTop: first === 0, stale: stale && first > 0 };
    pages.show(first, last);
    if (first === 0 && stale) pages.anew();
  }, [pages]);
  const freshen = useCallback(() => {
    if (reading.current.atTop) pages.anew();
    else reading.current.stale = true;
  }, [pages]);
  return { onShow, freshen };
}
