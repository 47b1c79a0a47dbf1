/** A piece of a text, and whether it is to be marked. */
export interface Piece {
  text: string;
  marked: boolean;
}

// Words shorter than these are everywhere.
const shortest = 3;

/** Cuts a text where the words begin and end that were searched for, or forms of them. */
export function mark(text: string, prompt: string): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const { word, at } of found(text, prompt)) {
    if (at > from) pieces.push({ text: text.slice(from, at), marked: false });
    pieces.push({ text: word, marked: true });
    from = at + word.length;
  }
  if (from < text.length) pieces.push({ text: text.slice(from), marked: false });
  return pieces;
}

function found(text: string, prompt: string): { word: string; at: number }[] {
  const sought = [...words(prompt.toLowerCase())].map(({ 0: word }) => word).filter((word) => word.length >= shortest);
  if (sought.length === 0) return [];
  return [...words(text)].filter(({ 0: word }) => sought.some((one) => alike(one, word.toLowerCase()))).map(({ 0: word, index }) => ({ word, at: index }));
}

/** The same word, or with another ending. */
function alike(a: string, b: string): boolean {
  if (a === b) return true;
  const least = Math.min(a.length, b.length);
  if (least < 5 || Math.abs(a.length - b.length) > 3) return false;
  const stem = Math.max(4, least - 2);
  return a.slice(0, stem) === b.slice(0, stem);
}

function words(text: string) {
  return text.matchAll(/[\p{L}\p{N}]+/gu);
}
