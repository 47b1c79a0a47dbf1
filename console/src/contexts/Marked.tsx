import { mark } from "./words";

/** A part of a text, in characters (code points). */
export interface Span {
  start: number;
  end: number;
}

/** A text in which what was cited is marked, or else the words that were searched for. */
export function Marked({ text, prompt, cited }: { text: string; prompt: string; cited?: Span | undefined }) {
  if (!cited) return mark(text, prompt).map((piece, index) => (piece.marked ? <mark key={index}>{piece.text}</mark> : piece.text));
  const characters = [...text];
  const slice = (from: number, to?: number) => characters.slice(Math.max(0, from), to === undefined ? to : Math.max(0, to)).join("");
  const marked = slice(cited.start, cited.end);
  return <>{slice(0, cited.start)}{marked && <mark>{marked}</mark>}{slice(cited.end)}</>;
}
