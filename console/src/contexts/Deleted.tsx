import { useNavigate, useParams } from "@tanstack/react-router";
import { useAsk, useChange } from "../graph/hooks";
import { useText } from "../text";
import { Deleted } from "../ui/Deleted";
import { SidePanel } from "../ui/SidePanel";
import { ContextHead, useContextOf } from "./Context";
import { DeletedContexts as AskContexts, DeletedDocuments as AskDocuments, RestoreContext, RestoreDocument } from "./contexts.gql";

/** The contexts that were deleted and can be brought back. */
export function DeletedContexts() {
  const { text } = useText();
  const navigate = useNavigate();
  const { data, error, again } = useAsk(AskContexts, {});
  const restore = useChange(RestoreContext);
  return (
    <SidePanel title={text.ui.recentlyDeleted} close={() => navigate({ to: "/contexts", search: true })}>
      <Deleted label={text.ui.recentlyDeleted} rows={data?.deletedContexts} error={error} again={again} restore={(id) => restore({ input: { id } })} />
    </SidePanel>
  );
}

/** The documents of a context that were deleted and can be brought back. */
export function DeletedDocuments() {
  const { text } = useText();
  const { contextId } = useParams({ from: "/inside/contexts/$contextId/deleted" });
  const { context } = useContextOf(contextId);
  const { data, error, again } = useAsk(AskDocuments, { id: contextId });
  const restore = useChange(RestoreDocument);
  if (!context) return null;
  return (
    <>
      <ContextHead context={context} />
      <Deleted label={text.ui.recentlyDeleted} rows={data?.context?.deletedDocuments} error={error} again={again} restore={(id) => restore({ input: { id } })} />
    </>
  );
}
