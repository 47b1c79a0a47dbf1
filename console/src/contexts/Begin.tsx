import { Button, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useAsk } from "../graph/hooks";
import { useText } from "../text";
import { Empty } from "../ui/Empty";
import type { Whole } from "./Context";
import { Counts, Headings, type HeadingsResult } from "./contexts.gql";

/** What is there before the first search or question: the way to it. */
export function Begin({ context, hint, to }: { context: Whole; hint: string; to: "/contexts/$contextId/search" | "/contexts/$contextId/ask" }) {
  const { text } = useText();
  const id = String(context.databaseId);
  const { data } = useAsk(Counts, { id });
  const own = context.starterPrompts;
  const { data: read } = useAsk(Headings, { id }, { pause: own.length > 0 });
  const starters = own.length > 0 ? own : headingsOf(read);
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
      <Text c="dimmed">{hint}{starters.length > 0 && ` ${text.contexts.forExample}`}</Text>
      {starters.map((prompt) => (
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

const offered = 3;

/** What documents say something about, as they call it themselves: some from the newest ones, in turn. */
function headingsOf(read: HeadingsResult | undefined): string[] {
  const each = (read?.context?.documents.nodes ?? []).map(({ chunks }) => [...new Set(chunks.nodes.flatMap(({ heading }) => heading ?? []))]);
  const inTurn = Array.from({ length: offered }, (_, turn) => each.flatMap((headings) => headings[turn] ?? [])).flat();
  return [...new Set(inTurn)].slice(0, offered);
}
