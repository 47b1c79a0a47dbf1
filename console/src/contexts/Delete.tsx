import { Button, Group, Stack, Text, Title } from "@mantine/core";
import { IconTrash } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useAsk, useChange } from "../graph/hooks";
import { useText } from "../text";
import { Confirm } from "../ui/Confirm";
import { useNotices } from "../ui/useNotices";
import type { Whole } from "./Context";
import { Counts, DeleteContext, RestoreContext } from "./contexts.gql";

/** Deletes a context: at once, so that it can be brought back for a time, or for good, after it has said what is lost. */
export function Delete({ context }: { context: Whole }) {
  const { text, format } = useText();
  const navigate = useNavigate();
  const { say, offer, attempt } = useNotices();
  const { data } = useAsk(Counts, { id: String(context.databaseId) });
  const remove = useChange(DeleteContext);
  const restore = useChange(RestoreContext);
  const [asking, setAsking] = useState(false);
  const count = data?.context?.all.totalCount ?? 0;
  const hide = () => attempt(async () => {
    await remove({ input: { id: context.id, restorable: true } });
    await navigate({ to: "/contexts" });
    offer(text.contexts.deletedForNow(context.name), () => restore({ input: { id: context.id } }));
  });
  return (
    <Stack component="section" gap="xs">
      <Title order={2} size="h4">{text.contexts.deleteTitle}</Title>
      <Text size="sm" c="dimmed">{text.contexts.deleteForNowHint(count, format.number(count))}</Text>
      <Group gap="xs">
        <Button color="red" variant="light" leftSection={<IconTrash size={16} aria-hidden />} onClick={hide}>{text.contexts.deleteButton}</Button>
        <Button variant="default" c="var(--mantine-color-error)" onClick={() => setAsking(true)}>{text.contexts.deleteForGood}</Button>
      </Group>
      {asking && (
        <Confirm
          title={text.contexts.deleteOf(context.name)} button={text.contexts.deleteForGood} type={context.name} close={() => setAsking(false)}
          work={async () => {
            await remove({ input: { id: context.id } });
            await navigate({ to: "/contexts" });
            say(text.contexts.deleted(context.name));
          }}
        >
          {text.contexts.deleteHint(count, format.number(count))}
        </Confirm>
      )}
    </Stack>
  );
}
