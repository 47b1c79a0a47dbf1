import { useNavigate, useSearch } from "@tanstack/react-router";
import { useAsk, useChange } from "../graph/hooks";
import { useText } from "../text";
import { Deleted } from "../ui/Deleted";
import { SidePanel } from "../ui/SidePanel";
import type { DestinationsSearch } from "./address";
import { useBase } from "./base";
import { DeletedDestinations as Ask, DeletedDestinationsOf, RestoreDestination } from "./webhooks.gql";

/** The destinations that were deleted and can be brought back, of one's own company or of the one that is looked at. */
export function DeletedDestinations() {
  const { text } = useText();
  const base = useBase();
  const navigate = useNavigate();
  const { company }: DestinationsSearch = useSearch({ strict: false });
  const own = useAsk(Ask, {}, { pause: company !== undefined });
  const other = useAsk(DeletedDestinationsOf, { id: String(company) }, { pause: company === undefined });
  const { error, again } = company === undefined ? own : other;
  const customer = company === undefined ? own.data?.me.customer : other.data?.customer;
  const restore = useChange(RestoreDestination);
  return (
    <SidePanel title={text.ui.recentlyDeleted} close={() => navigate({ to: `${base}/destinations`, search: true })}>
      <Deleted label={text.ui.recentlyDeleted} rows={customer?.deletedWebhookDestinations} error={error} again={again} restore={(id) => restore({ input: { id } })} />
    </SidePanel>
  );
}
