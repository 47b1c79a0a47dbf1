import type { Answer } from "./useAnswer";

export type Citation = Answer["citations"][number];

/** A place that an answer goes by. */
export interface Source {
  /** Counted from 1. */
  number: number;
  citation: Citation;
}

/** A piece of an answer: a sentence of which something is said, or what stands between two. */
export interface Sentence {
  start: number;
  text: string;
  sources: Source[];
  /** The codes of what is wrong with it. */
  faults: string[];
}

/** The places that an answer goes by, each once. */
export function sourcesOf({ citations }: Answer): Source[] {
  const sources = new Map<string, Source>();
  for (const citation of citations) {
    const key = keyOf(citation);
    if (!sources.has(key)) sources.set(key, { number: sources.size + 1, citation });
  }
  return [...sources.values()];
}

const keyOf = ({ quote, hit }: Citation) => `${hit.chunk.id} ${quote}`;

/** Cuts an answer where the sentences begin and end of which something is said. */
export function sentencesOf(answer: Answer): Sentence[] {
  const sources = new Map(sourcesOf(answer).map((source) => [keyOf(source.citation), source]));
  const said = new Map<number, Omit<Sentence, "text"> & { end: number }>();
  const at = (start: number, end: number) => {
    const sentence = said.get(start) ?? { start, end, sources: [], faults: [] };
    said.set(start, sentence);
    return sentence;
  };
  for (const citation of answer.citations) {
    const { sources: own } = at(citation.start, citation.end);
    const source = sources.get(keyOf(citation))!;
    if (!own.includes(source)) own.push(source);
  }
  for (const { code, start, end } of answer.warnings) if (start !== null && end !== null) at(start, end).faults.push(code);
  const characters = [...answer.text];
  const pieces: Sentence[] = [];
  const between = (from: number, to: number) => void (to > from && pieces.push({ start: from, text: characters.slice(from, to).join(""), sources: [], faults: [] }));
  let from = 0;
  for (const { end, ...sentence } of [...said.values()].sort((a, b) => a.start - b.start)) {
    between(from, sentence.start);
    pieces.push({ ...sentence, text: characters.slice(sentence.start, end).join("") });
    from = end;
  }
  between(from, characters.length);
  return pieces;
}
