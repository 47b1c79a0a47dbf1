/** A line of two texts: in both, in the old one alone, or in the new one alone. */
export interface Line {
  sign: " " | "-" | "+";
  text: string;
}

// Comparing takes a cell for each pair of lines that differ; beyond these, all of the one stands before all of the other.
const mostCells = 4_000_000;

/** The lines of two texts beside each other, with as few differences as there can be. */
export function difference(before: string, after: string): Line[] {
  const [a, b] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const same = (lines: string[]): Line[] => lines.map((text) => ({ sign: " ", text }));
  return [...same(a.slice(0, start)), ...middle(a.slice(start, a.length - end), b.slice(start, b.length - end)), ...same(a.slice(a.length - end))];
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.split("\n");
}

function middle(a: string[], b: string[]): Line[] {
  const gone = (text: string): Line => ({ sign: "-", text });
  const come = (text: string): Line => ({ sign: "+", text });
  if (a.length * b.length > mostCells) return [...a.map(gone), ...b.map(come)];
  // How many lines are alike in what is left of both from each pair on.
  const width = b.length + 1;
  const alike = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      alike[i * width + j] = a[i] === b[j] ? alike[(i + 1) * width + j + 1]! + 1 : Math.max(alike[(i + 1) * width + j]!, alike[i * width + j + 1]!);
    }
  }
  const out: Line[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      out.push({ sign: " ", text: a[i++]! });
      j++;
    } else if (j >= b.length || (i < a.length && alike[(i + 1) * width + j]! >= alike[i * width + j + 1]!)) out.push(gone(a[i++]!));
    else out.push(come(b[j++]!));
  }
  return out;
}
