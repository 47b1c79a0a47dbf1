import { Badge, Button } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { Link, Outlet, useNavigate, useParams } from "@tanstack/react-router";
import { useCallback } from "react";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { Empty } from "../ui/Empty";
import { PageHead } from "../ui/Page";
import { Problem } from "../ui/Problem";
import { Rows } from "../ui/Rows";
import { When } from "../ui/When";
import { useKeys } from "./useKeys";

/** The API keys of the company: what programs sign in with. */
export function Keys() {
  const { text } = useText();
  const me = useMe();
  return (
    <div className="split">
      <div className="list">
        <PageHead title={text.keys.title}>
          {me.can("key.write") && <NewKey />}
        </PageHead>
        <List />
      </div>
      <Outlet />
    </div>
  );
}

function NewKey() {
  const { text } = useText();
  return <Button component={Link} to="/keys/new" leftSection={<IconPlus size={16} aria-hidden />}>{text.keys.create}</Button>;
}

function List() {
  const { text } = useText();
  const me = useMe();
  const navigate = useNavigate();
  const { keyId } = useParams({ strict: false });
  const pages = useKeys();
  const onShow = useCallback((first: number, last: number) => pages.show(first, last), [pages]);
  if (pages.error) return <Problem error={pages.error} again={() => pages.retry()} />;
  if (pages.known && pages.rows.length === 0) return <Empty title={text.keys.none} hint={me.can("key.write") ? text.keys.noneHint : text.keys.noneToRead} action={me.can("key.write") && <NewKey />} />;
  return (
    <Rows
      label={text.keys.title} count={pages.rows.length} more={pages.more} onShow={onShow} keyOf={(index) => pages.rows[index]!.id}
      onOpen={(index) => navigate({ to: "/keys/$keyId", params: { keyId: String(pages.rows[index]!.databaseId) } })}
      isOpen={(index) => String(pages.rows[index]!.databaseId) === keyId}
      render={(index) => {
        const { name, clientId, user, lastUsedAt, revokedAt } = pages.rows[index]!;
        return (
          <>
            <span className="cell">{name || clientId}</span>
            {revokedAt && <Badge variant="light" color="red">{text.keys.revoked}</Badge>}
            <span className="cell spare quiet">{user?.name || user?.email}</span>
            <span className="cell spare quiet"><When at={lastUsedAt} never={text.keys.unused} /></span>
          </>
        );
      }}
    />
  );
}
