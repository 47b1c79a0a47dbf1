import { Button } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { Link, Outlet, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useAsk } from "../graph/hooks";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { FindBox } from "../ui/FindBox";
import { MoreLinks } from "../ui/MoreLinks";
import { PageHead } from "../ui/Page";
import { Found } from "./Found";
import { MayGrow } from "./companies.gql";
import { Tree } from "./Tree";

/** The way to a new company: below the one that is open, or else below one's own, which decides whether there may be any. */
function NewCompany({ below }: { below: string }) {
  const { text } = useText();
  const me = useMe();
  const { data } = useAsk(MayGrow, { id: me.customer.id });
  if (!data?.customer?.effectiveCanAddCustomers) return null;
  return <Button component={Link} to={`/companies/${below}/new`} leftSection={<IconPlus size={16} aria-hidden />}>{text.companies.create}</Button>;
}

/** The companies: the tree, or those that go by a name, and beside it the one that is open. */
export function Companies() {
  const { text } = useText();
  const me = useMe();
  const { find } = useSearch({ from: "/inside/companies" });
  const { companyId } = useParams({ strict: false });
  const navigate = useNavigate();
  const open = (id: number) => navigate({ to: "/companies/$companyId", params: { companyId: String(id) }, search: { find } });
  const at = Number(companyId);
  return (
    <div className="split">
      <div className="list">
        <PageHead title={text.companies.title}>
          {me.can("company.write") && <MoreLinks of={[{ to: "/companies/deleted", label: text.ui.recentlyDeleted }]} />}
          {me.can("company.create") && <NewCompany below={companyId ?? String(me.customer.databaseId)} />}
        </PageHead>
        <FindBox label={text.companies.filter} value={find} change={(find) => navigate({ to: ".", search: { find }, replace: true })} />
        {find ? <Found words={find} open={open} at={at} clear={() => navigate({ to: ".", search: {}, replace: true })} /> : <Tree open={open} at={at} />}
      </div>
      <Outlet />
    </div>
  );
}
