import { mark } from "./words";

/** A text in which the words that were searched for are marked. */
export function Marked({ text, prompt }: { text: string; prompt: string }) {
  return mark(text, prompt).map((piece, index) => (piece.marked ? <mark key={index}>{piece.text}</mark> : piece.text));
}
