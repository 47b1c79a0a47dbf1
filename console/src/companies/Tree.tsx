import { Button, Loader } from "@mantine/core";
import { IconChevronDown, IconChevronRight } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useCallback, useEffect, useMemo, useSyncExternalStore } from "react";
import { useClient } from "urql";
import { useAsk } from "../graph/hooks";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { Empty } from "../ui/Empty";
import { Problem } from "../ui/Problem";
import { Rows } from "../ui/Rows";
import { Company, MayGrow, type Company as Row, Top } from "./companies.gql";
import { Status } from "./Status";
import { TreeModel } from "./tree";
import "./tree.css";

export interface TreeProps {
  open: (id: number) => void;
  /** The company that is open; NaN where none is. */
  at: number;
  /** What a screen reader calls it; the companies otherwise. */
  label?: string;
}

/** The tree, from the caller's company down. */
export function Tree(props: TreeProps) {
  const { data, error, again } = useAsk(Top, { id: null });
  if (error && !data) return <Problem error={error} again={again} />;
  return data?.customer ? <Branches top={data.customer} {...props} /> : <Loader aria-label="…" />;
}

function Branches({ top, open, at, label }: TreeProps & { top: Row }) {
  const { text } = useText();
  const client = useClient();
  // A new name of the top does not fold the tree.
  const tree = useMemo(() => new TreeModel(client, top), [client, top.id]);
  useSyncExternalStore(tree.subscribe, tree.version);
  useEffect(() => () => tree.end(), [tree]);
  useReveal(tree, at);
  const { nodes } = tree;
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
    else return false;
    return true;
  };
  const { failure } = tree;
  const alone = label === undefined && nodes.length === 1 && top.children.nodes.length === 0;
  return (
    <>
      {failure && <Problem error={failure.error} again={() => failure.retry()} />}
      <Rows
        label={label ?? text.companies.tree} count={nodes.length} more={false} onShow={onShow} height={40}
        keyOf={(index) => nodes[index]!.company.id} onOpen={(index) => open(nodes[index]!.company.databaseId)}
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
              <Status status={company.status} />
            </>
          );
        }}
      />
      {alone && <Alone />}
    </>
  );
}

/** What stands below a company that is the only one: the first step, or why there is none. */
function Alone() {
  const { text } = useText();
  const me = useMe();
  const { data } = useAsk(MayGrow, { id: me.customer.id });
  if (!data) return null;
  const can = me.can("company.create") && data.customer?.effectiveCanAddCustomers;
  return (
    <Empty
      title={text.companies.none} hint={can ? text.companies.noneHint : text.companies.noneMay}
      action={can && <Button component={Link} to={`/companies/${me.customer.databaseId}/new`} variant="default">{text.companies.create}</Button>}
    />
  );
}

/** Opens the way down to the company that is open beside the tree. */
function useReveal(tree: TreeModel, at: number): void {
  const me = useMe();
  const { data } = useAsk(Company, { id: at }, { pause: Number.isNaN(at) || at === me.customer.databaseId });
  const way = data?.customer?.databaseId === at ? data.customer.ancestors : undefined;
  useEffect(() => way?.filter(({ customer }) => customer).forEach(({ id }) => tree.open(id)), [tree, way]);
}
