import { Button, Skeleton } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { Link, Outlet, useNavigate, useParams } from "@tanstack/react-router";
import { useAsk } from "../graph/hooks";
import { useText } from "../text";
import { Empty } from "../ui/Empty";
import { MoreLinks } from "../ui/MoreLinks";
import { Problem } from "../ui/Problem";
import { Rows } from "../ui/Rows";
import { When } from "../ui/When";
import { Secrets as Ask } from "./agents.gql";
import { Head } from "./Head";

/** The secrets of one's company that its agents may use, by name. Their values are never shown. */
export function Secrets() {
  const { text } = useText();
  return (
    <div className="split">
      <div className="list">
        <Head at="secrets"><MoreLinks of={[{ to: "/agents/secrets/deleted", label: text.ui.recentlyDeleted }]} /><NewSecret /></Head>
        <List />
      </div>
      <Outlet />
    </div>
  );
}

function NewSecret() {
  const { text } = useText();
  return <Button component={Link} to="/agents/secrets/new" leftSection={<IconPlus size={16} aria-hidden />}>{text.agents.createSecret}</Button>;
}

function List() {
  const { text } = useText();
  const navigate = useNavigate();
  const { secretId } = useParams({ strict: false });
  const { data, error, again } = useAsk(Ask, {});
  const secrets = data?.me.customer.secrets;
  if (!secrets) return error ? <Problem error={error} again={again} /> : <Skeleton height={160} />;
  if (secrets.length === 0) return <Empty title={text.agents.noSecrets} hint={text.agents.noSecretsHint} action={<NewSecret />} />;
  return (
    <Rows
      label={text.agents.lists.secrets} count={secrets.length} more={false} onShow={nothing} keyOf={(index) => secrets[index]!.id}
      onOpen={(index) => navigate({ to: "/agents/secrets/$secretId", params: { secretId: String(secrets[index]!.databaseId) } })}
      isOpen={(index) => String(secrets[index]!.databaseId) === secretId}
      render={(index) => (
        <>
          <span className="cell wide"><code>{secrets[index]!.name}</code></span>
          <span className="cell quiet"><When at={secrets[index]!.updatedAt} /></span>
        </>
      )}
    />
  );
}

// All of them are there: a company has at most 200.
const nothing = () => undefined;
