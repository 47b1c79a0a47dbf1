import { useNavigate } from "@tanstack/react-router";
import { useAsk, useChange } from "../graph/hooks";
import { useText } from "../text";
import { Deleted } from "../ui/Deleted";
import { SidePanel } from "../ui/SidePanel";
import { DeletedSecrets as Ask, RestoreSecret } from "./agents.gql";

/** The secrets that were deleted and can be brought back, under another name where theirs was given again. */
export function DeletedSecrets() {
  const { text } = useText();
  const navigate = useNavigate();
  const { data, error, again } = useAsk(Ask, {});
  const restore = useChange(RestoreSecret);
  return (
    <SidePanel title={text.ui.recentlyDeleted} close={() => navigate({ to: "/agents/secrets" })}>
      <Deleted
        label={text.ui.recentlyDeleted} rows={data?.me.customer.deletedSecrets} error={error} again={again}
        restore={(id, name) => restore({ input: { id, name: name ?? null } })}
      />
    </SidePanel>
  );
}
