/** Somebody to invite. */
export interface Invitee {
  email: string;
  firstName: string | null;
  lastName: string | null;
}

const address = /[^\s<>,;"']+@[^\s<>,;"']+/g;

/** Reads people, one a line: an address, with the name before or behind it. A line may also be as mail programs write several. Gives the numbers of lines that have no address, too. */
export function parsePeople(lines: string): { people: Invitee[]; bad: number[] } {
  const people = new Map<string, Invitee>();
  const bad: number[] = [];
  lines.split(/\r?\n/).forEach((line, index) => {
    if (line.trim() === "") return;
    const found = line.match(address) ?? [];
    if (found.length === 0) bad.push(index + 1);
    // Who stands there twice is one person.
    for (const one of found.length > 1 ? several(line) : found.map((email) => named(line, email))) people.set(one.email.toLowerCase(), people.get(one.email.toLowerCase()) ?? one);
  });
  return { people: [...people.values()], bad };
}

/** Those of a line with more than one address, with commas or semicolons between them. */
function several(line: string): Invitee[] {
  const people: Invitee[] = [];
  let begun = "";
  for (const part of line.match(/(?:"[^"]*"|[^,;"]|")+/g) ?? []) {
    const [email, ...more] = part.match(address) ?? [];
    // A name may have a comma of its own, as in: Lovelace, Ada <ada@example.com>
    if (!email) begun += `${part} `;
    else if (more.length > 0) people.push(...[email, ...more].map((each) => named(each, each)));
    else people.push(named(begun + part, email));
    if (email) begun = "";
  }
  return people;
}

function named(words: string, email: string): Invitee {
  const names = words.replace(email, " ").replace(/[<>,;"'\t]+/g, " ").trim().split(/\s+/).filter(Boolean);
  return { email, firstName: names[0] ?? null, lastName: names.slice(1).join(" ") || null };
}
