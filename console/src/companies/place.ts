import type { MovingResult, PlaceResult } from "./companies.gql";

export type Mover = NonNullable<MovingResult["customer"]>;
export type Place = NonNullable<PlaceResult["customer"]>;
type Used = Place["usage"][number];

/** Why a company can't be put at a place. */
export type Refusal = "self" | "there" | "inactive";

export function refusalOf(mover: Mover, place: Place): Refusal | undefined {
  if (chain(place).includes(mover.id)) return "self";
  if (mover.parent?.id === place.id) return "there";
  if (place.effectiveStatus !== "ACTIVE") return "inactive";
  return undefined;
}

/** The companies from the root down to one, itself included. */
function chain({ id, ancestors }: { id: string; ancestors: readonly { id: string }[] }): string[] {
  return [...ancestors.map((one) => one.id), id];
}

/** The companies that stand above it at one place alone; whoever may do something there gains it, or loses it. */
export function changeOfReach(mover: Mover, place: Place): { gain: readonly { id: string; name: string }[]; lose: readonly { id: string; name: string }[] } {
  const now = mover.ancestors;
  const then = [...place.ancestors, place];
  const missing = (of: readonly { id: string; name: string }[], from: readonly { id: string }[]) => of.filter(({ id }) => !from.some((one) => one.id === id));
  return { gain: missing(then, now), lose: missing(now, then) };
}

/** Whether it may create companies at a place, and the company that forbids it there. What is above reach is the same at both places. */
export function mayCreate(mover: Mover, place: Place): { may: boolean; by: string | undefined } {
  const above = [...place.ancestors.flatMap(({ customer }) => (customer ? [customer] : [])), place];
  const by = above.find(({ descendantsCanAdd }) => !descendantsCanAdd);
  // Forbidden today by nobody in sight: by somebody beyond, who is above the new place, too.
  const beyond = mover.canAddCustomers && !mover.effectiveCanAddCustomers && mover.ancestors.every(({ customer }) => customer?.descendantsCanAdd !== false);
  return { may: mover.canAddCustomers && !by && !beyond, by: by?.name };
}

export interface Bound {
  name: Used["name"];
  /** What it brings along. */
  brings: number;
  today: Used;
  there: Used;
  /** It does not fit: what is counted there already, and what it brings, is more than may be. */
  over: boolean;
}

/** What is limited at one of the places. Its own limits go along, and are not among these. */
export function boundsOf(mover: Mover, place: Place): Bound[] {
  const above = new Set(mover.ancestors.map(({ id }) => id));
  return mover.usage.flatMap((today) => {
    const there = place.usage.find(({ name }) => name === today.name);
    if (!there || (today.limit === null && there.limit === null)) return [];
    if (today.limit === there.limit && today.limitedBy?.id === there.limitedBy?.id) return [];
    // A company that is above both places counts it already.
    const counted = there.limitedBy === null || above.has(there.limitedBy.id);
    const over = stock(today.name) && !counted && there.limit !== null && there.used + today.used > there.limit;
    return [{ name: today.name, brings: today.used, today, there, over }];
  });
}

/** Whether what is limited is there to stay, and not what is done in a time. */
export function stock(name: Used["name"]): boolean {
  return !/PER_|CONCURRENT/.test(name);
}
