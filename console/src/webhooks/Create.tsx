import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { useChange } from "../graph/hooks";
import { useText } from "../text";
import { ShownOnce } from "../ui/ShownOnce";
import { SidePanel } from "../ui/SidePanel";
import { useBase } from "./base";
import { DestinationForm } from "./Form";
import type { DestinationsSearch } from "./address";
import { verifyingAt } from "./ownMachine";
import { CreateDestination } from "./webhooks.gql";

/** Adds a destination, and shows its secret. */
export function Create() {
  const { text } = useText();
  const base = useBase();
  const navigate = useNavigate();
  const { company }: DestinationsSearch = useSearch({ strict: false });
  const create = useChange(CreateDestination);
  const [made, setMade] = useState<{ secret: string; url: string; destinationId: string }>();
  // A receiver on one's own machine learns the secret by a command.
  const command = made && verifyingAt(made.url, made.secret);
  const verifying = command ? [[text.webhooks.ownMachineVerify, command] as const] : [];
  const close = () => navigate({ to: `${base}/destinations`, search: true });
  return (
    <SidePanel title={made ? text.webhooks.added : text.webhooks.add} close={close}>
      {made ? (
        <ShownOnce
          title={text.webhooks.secretTitle} hint={text.webhooks.secretOnce} values={[[text.webhooks.secret, made.secret], ...verifying]} kept={text.ui.secretKept}
          done={() => void navigate({ to: `${base}/destinations/$destinationId`, params: { destinationId: made.destinationId }, search: true })}
        />
      ) : (
        <DestinationForm
          of={{ url: "", name: "", events: null, signing: "SPEC" }} word={text.webhooks.addButton} close={close}
          save={async (fields) => {
            const { createWebhookDestination } = await create({ input: { ...fields, customerId: company ?? null } });
            setMade({ secret: createWebhookDestination!.secret, url: fields.url, destinationId: String(createWebhookDestination!.destination!.databaseId) });
          }}
        />
      )}
    </SidePanel>
  );
}
