import type { SearchContextResult } from "./contexts.gql";

// Characters that are shown of what stands around a passage.
const around = 160;

type Span = SearchContextResult["searchContext"][number]["highlights"][number];

/** The passage of a hit with a little of what stands around it, in which the words that were looked for are marked. */
export function Passage({ content, passage, highlights }: { content: string; passage: Span; highlights: Span[] }) {
  const characters = [...content];
  const slice = (from: number, to: number) => characters.slice(from, to).join("");
  const from = Math.max(0, passage.start - around);
  const to = Math.min(characters.length, passage.end + around);
  const within = highlights.filter((word) => word.start >= passage.start && word.end <= passage.end);
  return (
    <p className="piece">
      <span className="around">{from > 0 && "… "}{slice(from, passage.start)}</span>
      {within.map((word, index) => (
        <span key={word.start}>
          {slice(index === 0 ? passage.start : within[index - 1]!.end, word.start)}
          <mark>{slice(word.start, word.end)}</mark>
        </span>
      ))}
      {slice(within.at(-1)?.end ?? passage.start, passage.end)}
      <span className="around">{slice(passage.end, to)}{to < characters.length && " …"}</span>
    </p>
  );
}
