/** A piece of a text, and whether it is to be marked. */
export interface Piece {
  text: string;
  marked: boolean;
}

// Words shorter than these are everywhere.
const shortest = 3;
// Characters of an excerpt, and of what stands before its first marked word.
const length = 600;
const lead = 80;

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

/** The part of a text that has the most of what was searched for. */
export function excerpt(text: string, prompt: string): string {
  if (text.length <= length) return text;
  const places = found(text, prompt).map(({ at }) => at);
  let best = 0;
  let most = 0;
  for (const [index, from] of places.entries()) {
    const many = places.filter((at, other) => other >= index && at < from + length - lead).length;
    if (many > most) [best, most] = [from, many];
  }
  const start = best <= lead ? 0 : text.indexOf(" ", best - lead) + 1;
  const end = start + length >= text.length ? text.length : text.lastIndexOf(" ", start + length);
  return `${start > 0 ? "… " : ""}${text.slice(start, end).trim()}${end < text.length ? " …" : ""}`;
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
