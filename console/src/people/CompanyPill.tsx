import { Pill } from "@mantine/core";
import "@mantine/core/styles/Pill.css";
import { useAsk } from "../graph/hooks";
import { useText } from "../text";
import { CompanyName } from "./people.gql";

/** The company that a list is of, where that is not the usual one; back is the way to that, in a word. */
export function CompanyPill({ id, back, remove }: { id: number; back: string; remove: () => void }) {
  const { text } = useText();
  const { data } = useAsk(CompanyName, { id: String(id) });
  return (
    <Pill size="lg" withRemoveButton onRemove={remove} removeButtonProps={{ "aria-label": back, "aria-hidden": false, tabIndex: 0 }}>
      {text.people.company(data?.customer?.name ?? String(id))}
    </Pill>
  );
}
