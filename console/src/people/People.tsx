import { Button, Group, NativeSelect } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { Link, Outlet, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import { usePages } from "../graph/pages";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { Empty } from "../ui/Empty";
import { FindBox } from "../ui/FindBox";
import { MoreLinks } from "../ui/MoreLinks";
import { PageHead } from "../ui/Page";
import { Problem } from "../ui/Problem";
import { Rows } from "../ui/Rows";
import { When } from "../ui/When";
import { CompanyPill } from "./CompanyPill";
import { People as Ask } from "./people.gql";
import type { PeopleSearch } from "./address";

/** The people within reach, and beside them the one that is open. */
export function People() {
  const { text } = useText();
  const me = useMe();
  const search = useSearch({ from: "/inside/people" });
  const navigate = useNavigate();
  const change = (to: PeopleSearch) => navigate({ to: ".", search: { ...search, ...to }, replace: true });
  return (
    <div className="split">
      <div className="list">
        <PageHead title={text.people.title}>
          <MoreLinks of={[{ to: "/people/invitations", label: text.people.invitations, button: true }]} />
          {me.can("user.write") && <InviteLink search={search} />}
        </PageHead>
        <Group gap="xs">
          <FindBox label={text.people.search} value={search.find} change={(find) => change({ find })} flex={1} miw="12rem" />
          <NativeSelect
            aria-label={text.people.password} value={search.password ?? "any"}
            data={(["any", "yes", "no"] as const).map((value) => ({ value, label: text.people.passwords[value] }))}
            onChange={({ currentTarget: { value } }) => change({ password: value === "yes" || value === "no" ? value : undefined })}
          />
          {search.company !== undefined && <CompanyPill id={search.company} back={text.people.anyCompany} remove={() => change({ company: undefined })} />}
        </Group>
        <List search={search} clear={() => navigate({ to: ".", search: {}, replace: true })} />
      </div>
      <Outlet />
    </div>
  );
}

function InviteLink({ search }: { search: PeopleSearch }) {
  const { text } = useText();
  return <Button renderRoot={(props) => <Link to="/people/invite" search={search} {...props} />} leftSection={<IconPlus size={16} aria-hidden />}>{text.people.invite}</Button>;
}

function List({ search, clear }: { search: PeopleSearch; clear: () => void }) {
  const { text } = useText();
  const me = useMe();
  const navigate = useNavigate();
  const { personId } = useParams({ strict: false });
  const [find] = useDebouncedValue(search.find, 200);
  const hasPassword = search.password && search.password === "yes";
  const pages = usePages(
    Ask,
    { customerId: search.company ?? null, subtree: search.company === undefined, filter: { search: find ?? null, hasPassword: hasPassword ?? null } },
    ({ users }) => users,
  );
  const onShow = useCallback((first: number, last: number) => pages.show(first, last), [pages]);
  if (pages.error) return <Problem error={pages.error} again={() => pages.retry()} />;
  if (pages.known && pages.rows.length === 0) {
    return find || search.password
      ? <Empty title={text.people.noneFound} hint={text.people.noneFoundHint} action={<Button variant="default" onClick={clear}>{text.people.clear}</Button>} />
      : <Empty title={text.people.none} hint={me.can("user.write") ? text.people.noneHint : text.people.noneToRead} action={me.can("user.write") && <InviteLink search={search} />} />;
  }
  return (
    <Rows
      label={text.people.title} count={pages.rows.length} more={pages.more} onShow={onShow}
      keyOf={(index) => pages.rows[index]!.id}
      onOpen={(index) => navigate({ to: "/people/$personId", params: { personId: String(pages.rows[index]!.databaseId) }, search })}
      isOpen={(index) => String(pages.rows[index]!.databaseId) === personId}
      render={(index) => {
        const { name, email, hasPassword, lastAccess } = pages.rows[index]!;
        return (
          <>
            <span className="cell">{name || email}</span>
            <span className="cell wide spare quiet">{email}</span>
            <span className="cell spare quiet">{hasPassword ? <When at={lastAccess} /> : text.people.pending}</span>
          </>
        );
      }}
    />
  );
}
