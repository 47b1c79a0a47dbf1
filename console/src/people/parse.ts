/** Somebody to invite. */
export interface Invitee {
  email: string;
  firstName: string | null;
  lastName: string | null;
}

const address = /[^\s<>,;"']+@[^\s<>,;"']+/;

/** Reads people, one a line: an address, with the name before or behind it. Gives the numbers of lines that have no address, too. */
export function parsePeople(lines: string): { people: Invitee[]; bad: number[] } {
  const people: Invitee[] = [];
  const bad: number[] = [];
  lines.split(/\r?\n/).forEach((line, index) => {
    if (line.trim() === "") return;
    const email = address.exec(line)?.[0];
    if (!email) return void bad.push(index + 1);
    const names = line.replace(email, " ").replace(/[<>,;"'\t]+/g, " ").trim().split(/\s+/).filter(Boolean);
    people.push({ email, firstName: names[0] ?? null, lastName: names.slice(1).join(" ") || null });
  });
  return { people, bad };
}
