import { Button, Group, Stack, Text } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useChange } from "../graph/hooks";
import { useText } from "../text";
import { Dialog } from "../ui/Dialog";
import { Problem } from "../ui/Problem";
import { useNotices } from "../ui/useNotices";
import { useSubmit } from "../ui/useSubmit";
import { useBase } from "./base";
import { DeleteDestination as Ask, RestoreDestination } from "./webhooks.gql";

/** Asks whether a destination is to be deleted, and says what that does. */
export function DeleteDestination({ destination: { id, name, url }, close }: { destination: { id: string; name: string; url: string }; close: () => void }) {
  const { text } = useText();
  const base = useBase();
  const navigate = useNavigate();
  const remove = useChange(Ask);
  const restore = useChange(RestoreDestination);
  const { offer } = useNotices();
  const submit = useSubmit(async () => {
    await remove({ input: { id } });
    offer(text.webhooks.removed(name || url), () => restore({ input: { id } }));
    await navigate({ to: `${base}/destinations`, search: true });
  });
  return (
    <Dialog title={text.webhooks.removeTitle(name || url)} close={close}>
      <form onSubmit={submit.onSubmit}>
        <Stack>
          <Text size="sm">{text.webhooks.removeHint}</Text>
          <Problem error={submit.error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={close} data-autofocus>{text.ui.cancel}</Button>
            <Button type="submit" color="red" loading={submit.busy}>{text.webhooks.remove}</Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
