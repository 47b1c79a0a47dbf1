import { IconChevronDown, IconChevronRight } from "@tabler/icons-react";
import { type ReactNode, useCallback, useEffect, useSyncExternalStore } from "react";
import { Problem } from "../ui/Problem";
import { Rows } from "../ui/Rows";
import type { Company } from "./companies.gql";
import type { TreeModel } from "./tree";
import "./tree.css";

export interface TreeRowsProps {
  tree: TreeModel;
  /** What a screen reader calls it. */
  label: string;
  open: (company: Company) => void;
  /** The company that is open; NaN where none is. */
  at: number;
  /** What is said of a company beside its name. */
  detail: (company: Company) => ReactNode;
  /** What the keyboard does besides, such as to begin a search. */
  onKey?: ((key: string) => boolean) | undefined;
}

/** Rows of a tree, which arrow keys open, close, and go through. */
export function TreeRows({ tree, label, open, at, detail, onKey: otherKey }: TreeRowsProps) {
  useSyncExternalStore(tree.subscribe, tree.version);
  useEffect(() => () => tree.end(), [tree]);
  const { nodes, failure } = tree;
  const onShow = useCallback((first: number, last: number) => tree.show(first, last), [tree]);
  const toggle = (id: string) => (tree.isOpen(id) ? tree.close(id) : tree.open(id));
  const expanded = (index: number) => {
    const { company } = nodes[index]!;
    return company.children.nodes.length > 0 || tree.isOpen(company.id) && index > 0 ? tree.isOpen(company.id) : undefined;
  };
  const onKey = (key: string, index: number) => {
    const { company } = nodes[index]!;
    const state = expanded(index);
    if (key === "ArrowRight" && state === false) tree.open(company.id);
    else if (key === "ArrowRight" && state) return index + 1;
    else if (key === "ArrowLeft" && state) tree.close(company.id);
    else if (key === "ArrowLeft" && index > 0) return tree.above(index);
    else return otherKey?.(key) ?? false;
    return true;
  };
  return (
    <>
      {failure && <Problem error={failure.error} again={() => failure.retry()} />}
      <Rows
        label={label} count={nodes.length} begin={Math.max(0, nodes.findIndex(({ company }) => company.databaseId === at))} more={false} onShow={onShow} height={40}
        keyOf={(index) => nodes[index]!.company.id} onOpen={(index) => open(nodes[index]!.company)}
        isOpen={(index) => nodes[index]!.company.databaseId === at} onKey={onKey}
        tree={{ level: (index) => nodes[index]!.depth + 1, expanded }}
        render={(index) => {
          const { company, depth } = nodes[index]!;
          const state = expanded(index);
          const Chevron = state ? IconChevronDown : IconChevronRight;
          return (
            <>
              <span className="fold" style={{ marginInlineStart: `${depth * 1.25}rem` }} aria-hidden onClick={(event) => {
                if (state === undefined) return;
                event.stopPropagation();
                toggle(company.id);
              }}>
                {state !== undefined && <Chevron size={16} />}
              </span>
              <span className="cell">{company.name}</span>
              {detail(company)}
            </>
          );
        }}
      />
    </>
  );
}
