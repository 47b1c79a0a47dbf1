import { Button, Stack, Text, Title } from "@mantine/core";
import { IconRefresh } from "@tabler/icons-react";
import { useState } from "react";
import { useAsk, useChange } from "../graph/hooks";
import { useText } from "../text";
import { Confirm } from "../ui/Confirm";
import type { Whole } from "./Context";
import { Counts, ReprocessContext } from "./contexts.gql";
import { Reprocessing } from "./Reprocessing";
import { Searchable } from "./Searchable";

/** Has all documents of a context read anew, and shows how far that is. */
export function Reprocess({ context }: { context: Whole }) {
  const { text, format } = useText();
  const id = String(context.databaseId);
  const { data } = useAsk(Counts, { id });
  const reprocess = useChange(ReprocessContext);
  const [asking, setAsking] = useState(false);
  const all = data?.context?.all.totalCount ?? 0;
  return (
    <Stack component="section" gap="xs">
      <Title order={2} size="h4">{text.contexts.readAll}</Title>
      <Text size="sm" c="dimmed">{text.contexts.readAllHint}</Text>
      <Reprocessing contextId={id} last />
      <Searchable contextId={id} />
      <Button variant="default" w="fit-content" leftSection={<IconRefresh size={16} aria-hidden />} disabled={all === 0} onClick={() => setAsking(true)}>
        {text.contexts.readAllButton(all, format.number(all))}
      </Button>
      {asking && (
        <Confirm title={text.contexts.readAll} button={text.contexts.readAllButton(all, format.number(all))} close={() => setAsking(false)} work={() => reprocess({ input: { id: context.id } })}>
          {text.contexts.readAllWarning}
        </Confirm>
      )}
    </Stack>
  );
}
