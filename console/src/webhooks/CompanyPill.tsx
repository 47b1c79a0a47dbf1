import { Pill } from "@mantine/core";
import "@mantine/core/styles/Pill.css";
import { useNavigate } from "@tanstack/react-router";
import { useAsk } from "../graph/hooks";
import { CompanyName } from "../people/people.gql";
import { useText } from "../text";

/** Whose webhooks are shown, where they are not those of the caller's own company. */
export function CompanyPill({ id, to }: { id: number; to: "/webhooks/destinations" | "/webhooks/deliveries" | "/portal/destinations" | "/portal/deliveries" }) {
  const { text } = useText();
  const navigate = useNavigate();
  const { data } = useAsk(CompanyName, { id });
  return (
    <Pill size="lg" withRemoveButton onRemove={() => navigate({ to })} removeButtonProps={{ "aria-label": text.webhooks.ownCompany, "aria-hidden": false, tabIndex: 0 }}>
      {text.people.company(data?.customer?.name ?? String(id))}
    </Pill>
  );
}
