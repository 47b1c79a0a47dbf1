import { Button, Skeleton } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { Link, Outlet, useNavigate, useParams } from "@tanstack/react-router";
import { useAsk } from "../graph/hooks";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { Empty } from "../ui/Empty";
import { Problem } from "../ui/Problem";
import { Rows } from "../ui/Rows";
import { When } from "../ui/When";
import { Head } from "./Head";
import { ScimTokens as Ask } from "./identity.gql";

/** The directories that provision the company's people, each by a token. */
export function Directories() {
  const me = useMe();
  const { text } = useText();
  return (
    <div className="split">
      <div className="list">
        <Head at="directories"><New /></Head>
        {me.can("key.read") ? <List /> : <Empty title={text.problems.forbidden} />}
      </div>
      <Outlet />
    </div>
  );
}

function New() {
  const { text } = useText();
  const me = useMe();
  return me.can("key.write") && <Button component={Link} to="/identity/directories/new" leftSection={<IconPlus size={16} aria-hidden />}>{text.identity.createToken}</Button>;
}

function List() {
  const { text } = useText();
  const navigate = useNavigate();
  const { tokenId } = useParams({ strict: false });
  const { data, error, again } = useAsk(Ask, {});
  if (!data) return error ? <Problem error={error} again={again} /> : <Skeleton height={160} />;
  const { scimTokens } = data.me.customer;
  if (scimTokens.length === 0) return <Empty title={text.identity.noTokens} hint={text.identity.noTokensHint} action={<New />} />;
  return (
    <Rows
      label={text.identity.lists.directories} count={scimTokens.length} more={false} onShow={nothing} keyOf={(index) => scimTokens[index]!.id}
      onOpen={(index) => navigate({ to: "/identity/directories/$tokenId", params: { tokenId: String(scimTokens[index]!.databaseId) } })}
      isOpen={(index) => String(scimTokens[index]!.databaseId) === tokenId}
      render={(index) => (
        <>
          <span className="cell wide">{scimTokens[index]!.name}</span>
          <span className="cell quiet"><When at={scimTokens[index]!.lastUsedAt} never={text.identity.unused} /></span>
        </>
      )}
    />
  );
}

// All of them are there: a company has at most 20.
const nothing = () => undefined;
