import { Anchor, Button, Group, Progress, Skeleton, Stack, Text } from "@mantine/core";
import { IconArrowRight } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useAsk } from "../graph/hooks";
import { useText } from "../text";
import { Empty } from "../ui/Empty";
import { Problem } from "../ui/Problem";
import type { Whole } from "./Context";
import { SearchContext } from "./contexts.gql";
import { type Found, Passage } from "./Passage";
import { placeOf } from "./place";
import type { PromptSearch } from "./address";

/** What a search found, best first. */
export function Hits({ context, search, prompt }: { context: Whole; search: PromptSearch; prompt: string }) {
  const { text, format } = useText();
  const id = String(context.databaseId);
  const threshold = search.threshold ?? context.scoreThreshold;
  const { data, error, again } = useAsk(SearchContext, {
    id, prompt, topN: search.topN ?? null, scoreThreshold: search.threshold ?? null, mode: search.mode ?? null,
  });
  const hits = data?.searchContext;
  if (!hits) return error ? <Problem error={error} again={again} /> : <Skeleton height={200} />;
  if (hits.length === 0) {
    return (
      <Empty
        title={text.contexts.noHit} hint={threshold > 0 ? text.contexts.noHitThreshold(format.number(threshold)) : text.contexts.noHitHint}
        action={threshold > 0 && (
          <Button renderRoot={(props) => <Link to="/contexts/$contextId/search" params={{ contextId: id }} search={{ ...search, threshold: 0 }} {...props} />} variant="default">
            {text.contexts.withoutThreshold}
          </Button>
        )}
      />
    );
  }
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed" role="status">{text.contexts.hitCount(hits.length, format.number(hits.length))}</Text>
      <ol className="found">{hits.map((hit) => <Hit key={hit.chunk.id} hit={hit} contextId={id} prompt={prompt} />)}</ol>
    </Stack>
  );
}

function Hit({ hit: { relevance, content, passage, highlights, document, chunk }, contextId, prompt }: { hit: Found; contextId: string; prompt: string }) {
  const { text, format } = useText();
  const open = { to: "/contexts/$contextId/documents/$documentId", params: { contextId, documentId: String(document.databaseId) }, search: { chunk: chunk.position, prompt, from: passage.start, to: passage.end, page: passage.page ?? undefined } } as const;
  const place = placeOf({ ...passage, position: chunk.position }, text);
  const score = format.number(Math.round(relevance * 100) / 100);
  return (
    <li className="hit">
      <Group justify="space-between" gap="xs">
        <Text size="sm" flex="1 1 12rem">
          <Anchor renderRoot={(props) => <Link {...open} {...props} />} fw={600} size="sm">{document.displayName}</Anchor>{" "}
          <Text span size="sm" c="dimmed">{place}</Text>
        </Text>
        <Group gap="xs" w="9rem" wrap="nowrap">
          <Progress value={relevance * 100} flex={1} size="md" aria-label={text.contexts.relevance(score)} />
          <Text size="sm" aria-hidden>{score}</Text>
        </Group>
      </Group>
      <Passage content={content} passage={passage} highlights={highlights} />
      <Anchor renderRoot={(props) => <Link {...open} {...props} />} size="sm" className="go" aria-label={text.contexts.openAt(document.displayName, place)}>
        {text.contexts.open}<IconArrowRight size={14} aria-hidden />
      </Anchor>
    </li>
  );
}
