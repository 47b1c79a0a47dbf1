import { Badge, Button, Skeleton } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { Link, Outlet, useNavigate, useParams } from "@tanstack/react-router";
import { useAsk } from "../graph/hooks";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { Empty } from "../ui/Empty";
import { Problem } from "../ui/Problem";
import { Rows } from "../ui/Rows";
import { Head } from "./Head";
import { Providers as Ask } from "./identity.gql";

/** Where the company's people sign in: its own identity providers. */
export function Providers() {
  return (
    <div className="split">
      <div className="list">
        <Head at="providers"><New /></Head>
        <List />
      </div>
      <Outlet />
    </div>
  );
}

function New() {
  const { text } = useText();
  const { owns } = useMe();
  return owns && <Button component={Link} to="/identity/new" leftSection={<IconPlus size={16} aria-hidden />}>{text.identity.create}</Button>;
}

function List() {
  const { text } = useText();
  const navigate = useNavigate();
  const { providerId } = useParams({ strict: false });
  const { data, error, again } = useAsk(Ask, {});
  if (!data) return error ? <Problem error={error} again={again} /> : <Skeleton height={160} />;
  const { identityProviders } = data.me.customer;
  if (identityProviders.length === 0) return <Empty title={text.identity.none} hint={text.identity.noneHint} action={<New />} />;
  return (
    <Rows
      label={text.identity.lists.providers} count={identityProviders.length} more={false} onShow={nothing} keyOf={(index) => identityProviders[index]!.id}
      onOpen={(index) => navigate({ to: "/identity/$providerId", params: { providerId: String(identityProviders[index]!.databaseId) } })}
      isOpen={(index) => String(identityProviders[index]!.databaseId) === providerId}
      render={(index) => {
        const { name, domains, enabled } = identityProviders[index]!;
        return (
          <>
            <span className="cell">{name}</span>
            {!enabled && <Badge variant="light" color="gray">{text.identity.off}</Badge>}
            <span className="cell spare quiet">{domains.join(", ")}</span>
          </>
        );
      }}
    />
  );
}

// All of them are there: a company has at most 20.
const nothing = () => undefined;
