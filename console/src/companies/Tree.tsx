import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useEffect, useMemo } from "react";
import { useClient } from "urql";
import { useAsk } from "../graph/hooks";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { Empty } from "../ui/Empty";
import { Problem } from "../ui/Problem";
import { Waiting } from "../ui/Waiting";
import { Company, MayGrow, type Company as Row, Top } from "./companies.gql";
import { Status } from "./Status";
import { TreeModel } from "./tree";
import { TreeRows } from "./TreeRows";

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
  return data?.customer ? <Branches top={data.customer} {...props} /> : <Waiting />;
}

function Branches({ top, open, at, label }: TreeProps & { top: Row }) {
  const { text } = useText();
  const client = useClient();
  // A new name of the top does not fold the tree.
  const tree = useMemo(() => new TreeModel(client, [top], top.id), [client, top.id]);
  useReveal(tree, at);
  return (
    <>
      <TreeRows tree={tree} label={label ?? text.companies.tree} open={({ databaseId }) => open(databaseId)} at={at} detail={({ status }) => <Status status={status} />} />
      {label === undefined && tree.nodes.length === 1 && top.children.nodes.length === 0 && <Alone />}
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
