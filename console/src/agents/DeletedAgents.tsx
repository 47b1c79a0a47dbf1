import { useNavigate, useSearch } from "@tanstack/react-router";
import { useAsk, useChange } from "../graph/hooks";
import { useText } from "../text";
import { Deleted } from "../ui/Deleted";
import { SidePanel } from "../ui/SidePanel";
import { DeletedAgents as Ask, DeletedAgentsOf, RestoreAgent } from "./agents.gql";

/** The agents that were deleted and can be brought back, of one's own company or of the one that is looked at. */
export function DeletedAgents() {
  const { text } = useText();
  const navigate = useNavigate();
  const { company } = useSearch({ from: "/inside/agents" });
  const own = useAsk(Ask, {}, { pause: company !== undefined });
  const other = useAsk(DeletedAgentsOf, { id: String(company) }, { pause: company === undefined });
  const { error, again } = company === undefined ? own : other;
  const customer = company === undefined ? own.data?.me.customer : other.data?.customer;
  const restore = useChange(RestoreAgent);
  return (
    <SidePanel title={text.ui.recentlyDeleted} close={() => navigate({ to: "/agents", search: true })}>
      <Deleted label={text.ui.recentlyDeleted} rows={customer?.deletedAgents} error={error} again={again} restore={(id) => restore({ input: { id } })} />
    </SidePanel>
  );
}
