import { Button, TextInput } from "@mantine/core";
import { IconPlus, IconSearch } from "@tabler/icons-react";
import { Link, Outlet, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { PageHead } from "../ui/Page";
import { Found } from "./Found";
import { Tree } from "./Tree";

/** The companies: the tree, or those that go by a name, and beside it the one that is open. */
export function Companies() {
  const { text } = useText();
  const me = useMe();
  const { find } = useSearch({ from: "/inside/companies" });
  const { companyId } = useParams({ strict: false });
  const navigate = useNavigate();
  const open = (id: number) => navigate({ to: "/companies/$companyId", params: { companyId: String(id) }, search: { find } });
  const setFind = (words: string) => navigate({ to: ".", search: { find: words || undefined }, replace: true });
  const at = Number(companyId);
  return (
    <div className="split">
      <div className="list">
        <PageHead title={text.companies.title}>
          {me.can("company.create") && (
            <Button component={Link} to={`/companies/${companyId ?? me.customer.databaseId}/new`} leftSection={<IconPlus size={16} aria-hidden />}>
              {text.companies.create}
            </Button>
          )}
        </PageHead>
        <TextInput
          aria-label={text.companies.filter} placeholder={text.companies.filter} leftSection={<IconSearch size={16} aria-hidden />} type="search"
          value={find ?? ""} onChange={(event) => setFind(event.currentTarget.value)}
        />
        {find ? <Found words={find} open={open} at={at} /> : <Tree open={open} at={at} />}
      </div>
      <Outlet />
    </div>
  );
}
