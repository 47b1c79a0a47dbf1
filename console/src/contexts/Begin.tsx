import { Button, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useAsk } from "../graph/hooks";
import { useText } from "../text";
import { Empty } from "../ui/Empty";
import type { Whole } from "./Context";
import { Counts } from "./contexts.gql";

/** What is there before the first search or question: the way to it. */
export function Begin({ context, hint, to }: { context: Whole; hint: string; to: "/contexts/$contextId/search" | "/contexts/$contextId/ask" }) {
  const { text } = useText();
  const id = String(context.databaseId);
  const { data } = useAsk(Counts, { id });
  if (data?.context && data.context.ready.totalCount === 0) {
    return (
      <Empty
        title={text.contexts.nothingToSearch} hint={data.context.all.totalCount > 0 ? text.contexts.notReadYet : text.contexts.nothingToSearchHint}
        action={<Button renderRoot={(props) => <Link to="/contexts/$contextId" params={{ contextId: id }} {...props} />} variant="default">{text.contexts.toDocuments}</Button>}
      />
    );
  }
  return (
    <Stack gap="xs" align="start">
      <Text c="dimmed">{hint}</Text>
      {context.starterPrompts.map((prompt) => (
        <Button
          key={prompt} variant="default" size="sm" h="auto" py={6} className="starter"
          renderRoot={(props) => <Link to={to} params={{ contextId: id }} search={{ prompt }} {...props} />}
        >
          {prompt}
        </Button>
      ))}
    </Stack>
  );
}
