import { Button, Stack, Text, Title } from "@mantine/core";
import { IconTrash } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useAsk, useChange } from "../graph/hooks";
import { useText } from "../text";
import { Confirm } from "../ui/Confirm";
import { useNotices } from "../ui/useNotices";
import type { Whole } from "./Context";
import { Counts, DeleteContext } from "./contexts.gql";

/** Deletes a context, after it has said what is lost. */
export function Delete({ context }: { context: Whole }) {
  const { text, format } = useText();
  const navigate = useNavigate();
  const { say } = useNotices();
  const { data } = useAsk(Counts, { id: String(context.databaseId) });
  const remove = useChange(DeleteContext);
  const [asking, setAsking] = useState(false);
  const count = data?.context?.all.totalCount ?? 0;
  return (
    <Stack component="section" gap="xs">
      <Title order={2} size="h4">{text.contexts.deleteTitle}</Title>
      <Text size="sm" c="dimmed">{text.contexts.deleteHint(count, format.number(count))}</Text>
      <Button color="red" variant="light" w="fit-content" leftSection={<IconTrash size={16} aria-hidden />} onClick={() => setAsking(true)}>{text.contexts.deleteButton}</Button>
      {asking && (
        <Confirm
          title={text.contexts.deleteOf(context.name)} button={text.contexts.deleteButton} type={context.name} close={() => setAsking(false)}
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
