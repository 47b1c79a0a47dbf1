import { Skeleton } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useAsk, useChange } from "../graph/hooks";
import { useText } from "../text";
import { Problem } from "../ui/Problem";
import { SidePanel } from "../ui/SidePanel";
import { useNotices } from "../ui/useNotices";
import { type DestinationFields, DestinationForm } from "./Form";
import { useDestination } from "./useDestination";
import { Destination, UpdateDestination } from "./webhooks.gql";

/** Changes a destination. */
export function Edit() {
  const { text } = useText();
  const { id, to } = useDestination();
  const navigate = useNavigate();
  const { data, error, again } = useAsk(Destination, { id });
  const update = useChange(UpdateDestination);
  const { offer } = useNotices();
  const close = () => navigate(to);
  const destination = data?.webhookDestination;
  return (
    <SidePanel title={text.webhooks.change(destination?.name || text.webhooks.one)} close={close}>
      <Problem error={error} again={again} />
      {!destination && !error && <Skeleton height={300} />}
      {destination && (
        <DestinationForm
          key={destination.id} of={fieldsOf(destination)} version={destination.version} word={text.ui.save} close={close}
          save={async (fields, was, ifVersion) => {
            const save = ({ events, ...rest }: DestinationFields, ifVersion: number) => update({ input: { id: destination.id, ...rest, ...(events ? { events } : { allEvents: true }), ifVersion } });
            const { updateWebhookDestination } = await save(fields, ifVersion!);
            offer(text.ui.saved, () => save(was, updateWebhookDestination!.destination.version));
            await close();
          }}
        />
      )}
    </SidePanel>
  );
}

function fieldsOf({ url, name, events, signing }: DestinationFields): DestinationFields {
  return { url, name, events, signing };
}
