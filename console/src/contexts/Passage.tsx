import type { SearchContextResult } from "./contexts.gql";

// Characters that are shown of what stands around a passage.
const around = 160;

export type Found = NonNullable<SearchContextResult["searchContext"]>[number];

type Span = Found["highlights"][number];

/** The passage of a hit with a little of what stands around it, in which the words that were looked for are marked. */
export function Passage({ content, passage, highlights }: { content: string; passage: Span; highlights: Span[] }) {
  const characters = [...content];
  const slice = (from: number, to: number) => characters.slice(from, to).join("");
  // Cut between words, where there are any.
  const before = passage.start <= around ? slice(0, passage.start) : slice(passage.start - around, passage.start).replace(/^\S{1,30}\s/, "");
  const after = passage.end + around >= characters.length ? slice(passage.end, characters.length) : slice(passage.end, passage.end + around).replace(/\s\S{1,30}$/, "");
  const within = highlights.filter((word) => word.start >= passage.start && word.end <= passage.end);
  return (
    <p className="piece">
      <span className="around">{passage.start > around && "… "}{before}</span>
      {within.map((word, index) => (
        <span key={word.start}>
          {slice(index === 0 ? passage.start : within[index - 1]!.end, word.start)}
          <mark>{slice(word.start, word.end)}</mark>
        </span>
      ))}
      {slice(within.at(-1)?.end ?? passage.start, passage.end)}
      <span className="around">{after}{passage.end + around < characters.length && " …"}</span>
    </p>
  );
}
