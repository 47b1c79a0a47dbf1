import { agents } from "../agents/area";
import { companies } from "../companies/area";
import { contexts } from "../contexts/area";
import { identity } from "../identity/area";
import { keys } from "../keys/area";
import { operations } from "../operations/area";
import { people } from "../people/area";
import { profile } from "../session/area";
import { type Granted, has } from "../session/rights";
import type { Text } from "../text";
import { webhooks } from "../webhooks/area";
import type { Area, Entry, Hit } from "./area";

/** The areas of the console, in the order of the main menu. */
export const areas: readonly Area[] = [
  companies,
  people,
  contexts,
  agents,
  webhooks,
  keys,
  identity,
  operations,
  profile,
];

/** The pages of the main menu that somebody sees. */
export function entriesFor(who: Granted): Entry[] {
  return areas.flatMap(({ entries }) => entries).filter(({ needs, ofRoot }) => needs.some((right) => has(who, right)) && (!ofRoot || who.customer.level === 0));
}

/** All pages that somebody may open, by their names. */
export function pagesFor(who: Granted & { customer: { databaseId: number } }, text: Text): Hit[] {
  const places = areas.flatMap(({ places = [] }) => places).filter(({ needs }) => !needs || has(who, needs));
  return [
    ...entriesFor(who).map(({ to, label }) => ({ to, title: label(text), detail: text.app.searchPages })),
    ...places.map(({ to, label, part }) => ({ to: typeof to === "string" ? to : to(who), title: label(text), detail: part(text) })),
  ];
}
