import { Alert, Anchor, Button, Group, Stack, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useAsk, useChange } from "../graph/hooks";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { useNotices } from "../ui/useNotices";
import { useOnChanges } from "./changes";
import { FailedDocuments, ReprocessDocument } from "./contexts.gql";

/** The documents that could not be read, each with the reason and what can be done: the latest ones. */
export function Failed({ contextId, showAll }: { contextId: string; showAll: () => void }) {
  const { text, format } = useText();
  const me = useMe();
  const { attempt } = useNotices();
  const reprocess = useChange(ReprocessDocument);
  const { data, again } = useAsk(FailedDocuments, { id: contextId });
  useOnChanges(again);
  const failed = data?.documents;
  if (!failed || failed.nodes.length === 0) return null;
  return (
    <Alert color="red" flex="none" icon={<IconAlertTriangle aria-hidden />} title={text.contexts.failed(failed.totalCount, format.number(failed.totalCount))}>
      <Stack gap="xs">
        {failed.nodes.map(({ id, databaseId, displayName, error }) => (
          <Group key={id} justify="space-between" gap="xs">
            <Stack gap={0} flex="1 1 14rem">
              <Anchor component={Link} to={`/contexts/${contextId}/documents/${databaseId}`} size="sm" w="fit-content">{displayName}</Anchor>
              <Text size="sm">{error}</Text>
            </Stack>
            {me.can("context.write") && (
              <Button
                size="compact-sm" variant="default" aria-label={text.contexts.againFor(displayName)}
                onClick={() => attempt(() => reprocess({ input: { id } }))}
              >
                {text.ui.tryAgain}
              </Button>
            )}
          </Group>
        ))}
        {failed.totalCount > failed.nodes.length && (
          <Button size="compact-sm" variant="default" w="fit-content" onClick={showAll}>{text.contexts.showFailed(format.number(failed.totalCount))}</Button>
        )}
      </Stack>
    </Alert>
  );
}
