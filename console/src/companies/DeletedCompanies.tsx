import { useNavigate } from "@tanstack/react-router";
import { useAsk, useChange } from "../graph/hooks";
import { useText } from "../text";
import { Deleted } from "../ui/Deleted";
import { SidePanel } from "../ui/SidePanel";
import { DeletedCompanies as Ask, RestoreCompany } from "./companies.gql";

/** The companies that were deleted and can be restored, wherever they are. */
export function DeletedCompanies() {
  const { text } = useText();
  const navigate = useNavigate();
  const { data, error, again } = useAsk(Ask, {});
  const restore = useChange(RestoreCompany);
  // One whose time is over is being erased.
  const rows = data?.customers.nodes
    .flatMap(({ id, name, path, eraseAt }) => (eraseAt && Date.parse(eraseAt) > Date.now() ? [{ id, name, place: path, restorableUntil: eraseAt }] : []))
    .sort((one, other) => Date.parse(other.restorableUntil) - Date.parse(one.restorableUntil));
  return (
    <SidePanel title={text.ui.recentlyDeleted} close={() => navigate({ to: "/companies", search: true })}>
      <Deleted label={text.ui.recentlyDeleted} rows={rows} error={error} again={again} hint={text.companies.noneDeleted} restore={(id) => restore({ input: { id } })} />
    </SidePanel>
  );
}
