import { Anchor, Text } from "@mantine/core";
import { IconArrowRight } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useText } from "../text";
import { placeOf } from "./place";
import type { Citation, Source } from "./sentences";

// What Markdown marks headings by is not read out.
const headings = /^#{1,6}\s+/gm;

/** Leads to what was cited, where it stands in its document. */
export function useOpening(contextId: string, prompt: string) {
  const { text } = useText();
  return ({ quote, hit: { content, passage, document, chunk } }: Citation) => {
    const begin = content.indexOf(quote);
    const from = begin < 0 ? undefined : [...content.slice(0, begin)].length;
    return {
      name: document.displayName,
      place: placeOf({ ...passage, position: chunk.position }, text),
      link: {
        to: "/contexts/$contextId/documents/$documentId",
        params: { contextId, documentId: String(document.databaseId) },
        search: { chunk: chunk.position, prompt, from, to: from === undefined ? undefined : from + [...quote].length, page: passage.page ?? undefined },
      } as const,
    };
  };
}

/** The words of the documents that an answer goes by, each with the way to its place. */
export function Sources({ of, contextId, prompt }: { of: Source[]; contextId: string; prompt: string }) {
  const { text } = useText();
  const opening = useOpening(contextId, prompt);
  return (
    <ol className="found">
      {of.map(({ number, citation }) => {
        const { name, place, link } = opening(citation);
        return (
          <li key={number} className="hit">
            <Text size="sm">
              <Text span size="sm" c="dimmed">{number}.</Text>{" "}
              <Anchor renderRoot={(props) => <Link {...link} {...props} />} fw={600} size="sm">{name}</Anchor>{" "}
              <Text span size="sm" c="dimmed">{place}</Text>
            </Text>
            <p className="piece">{citation.quote.replace(headings, "")}</p>
            <Anchor renderRoot={(props) => <Link {...link} {...props} />} size="sm" className="go" aria-label={text.contexts.openAt(name, place)}>
              {text.contexts.open}<IconArrowRight size={14} aria-hidden />
            </Anchor>
          </li>
        );
      })}
    </ol>
  );
}
