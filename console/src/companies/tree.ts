import type { Client } from "@urql/core";
import { type Pages, pagesOf } from "../graph/pages";
import { Children, type Company } from "./companies.gql";

/** A company where the tree shows it. */
export interface Node {
  company: Company;
  /** Steps below the top. */
  depth: number;
  /** The list that it stands in, and where; the top stands in none. */
  list?: Pages<Company>;
  place: number;
}

/** The companies below one, as far as they are opened: one list of rows, which scrolls however long it is. */
export class TreeModel {
  /** The rows, from the top down. */
  nodes: Node[] = [];
  readonly #client: Client;
  readonly #tops: readonly Company[];
  readonly #lists = new Map<string, Pages<Company>>();
  readonly #listeners = new Set<() => void>();
  #version = 0;

  /** A tree of what stands below some companies, of which one is open at first. */
  constructor(client: Client, tops: readonly Company[], first: string | undefined) {
    this.#client = client;
    this.#tops = tops;
    if (first === undefined) this.#lay();
    else this.open(first);
  }

  isOpen(id: string): boolean {
    return this.#lists.has(id);
  }

  open(id: string): void {
    if (this.#lists.has(id)) return;
    const list = pagesOf(this.#client, Children, { id }, ({ customer }) => customer?.children);
    this.#lists.set(id, list);
    list.subscribe(() => this.#lay());
    list.show(0, 0);
    this.#lay();
  }

  close(id: string): void {
    this.#lists.get(id)?.close();
    this.#lists.delete(id);
    this.#lay();
  }

  /** Ends all lists. */
  end(): void {
    for (const list of this.#lists.values()) list.close();
  }

  /** Says which rows are seen, so that each list knows what is seen of it. */
  show(first: number, last: number): void {
    const seen = new Map<Pages<Company>, [number, number]>();
    for (const { list, place } of this.nodes.slice(first, last + 1)) {
      if (!list) continue;
      const [from, to] = seen.get(list) ?? [place, place];
      seen.set(list, [Math.min(from, place), Math.max(to, place)]);
    }
    for (const [list, [from, to]] of seen) list.show(from, to);
  }

  /** The row of the company right above, or -1. */
  above(index: number): number {
    const depth = this.nodes[index]?.depth ?? 0;
    for (let at = index - 1; at >= 0; at--) if (this.nodes[at]!.depth < depth) return at;
    return -1;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly version = (): number => this.#version;

  #lay(): void {
    const nodes: Node[] = [];
    const put = (node: Node) => {
      nodes.push(node);
      const list = this.#lists.get(node.company.id);
      list?.rows.forEach((company, place) => put({ company, depth: node.depth + 1, list, place }));
    };
    this.#tops.forEach((company) => put({ company, depth: 0, place: 0 }));
    this.nodes = nodes;
    this.#version++;
    this.#listeners.forEach((tell) => tell());
  }

  /** Why a list could not be read, and how it is tried again. */
  get failure(): Pages<Company> | undefined {
    return [...this.#lists.values()].find(({ error }) => error);
  }
}
