import { agents } from "../agents/area";
import { companies } from "../companies/area";
import { contexts } from "../contexts/area";
import { keys } from "../keys/area";
import { operations } from "../operations/area";
import { people } from "../people/area";
import { type Granted, has } from "../session/rights";
import { webhooks } from "../webhooks/area";
import type { Area, Entry } from "./area";

/** The areas of the console, in the order of the main menu. */
export const areas: readonly Area[] = [
  companies,
  people,
  contexts,
  agents,
  webhooks,
  keys,
  operations,
];

/** The pages of the main menu that somebody sees. */
export function entriesFor(who: Granted): Entry[] {
  return areas.flatMap(({ entries }) => entries).filter(({ needs, ofRoot }) => needs.some((right) => has(who, right)) && (!ofRoot || who.customer.level === 0));
}
