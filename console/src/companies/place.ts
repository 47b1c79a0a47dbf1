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

/** What a company may have of something, and whose limit that is. */
export interface Limit {
  limit: number | null;
  /** A company's name, the company itself, the platform's default for companies right below the root, or somebody above whom one does not see. */
  by: { name: string } | "itself" | "default" | "above";
}

export interface Bound {
  name: Used["name"];
  /** What it brings along. */
  brings: number;
  today: Limit;
  there: Limit;
  /** It does not fit: what is counted there already, and what it brings, is more than may be. */
  over: boolean;
}

/** The platform's limits for companies right below the root that have none of their own; undefined where they are not known. */
export type Defaults = readonly { name: Used["name"]; limit: number }[] | undefined;

/** What is limited otherwise at a place. A company's own limits go along; the platform's defaults hold right below the root alone. */
export function boundsOf(mover: Mover, place: Place, defaults: Defaults): Bound[] {
  const above = new Set(mover.ancestors.map(({ id }) => id));
  return mover.usage.flatMap((now) => {
    const of = place.usage.find(({ name }) => name === now.name);
    if (!of) return [];
    const today = limitToday(mover, now);
    const there = tightest(limitOf(of), ownAt(place, now, defaults));
    if (today.limit === there.limit && sameSource(today.by, there.by)) return [];
    // A company that is above both places counts it already.
    const counted = of.limitedBy === null || above.has(of.limitedBy.id);
    const full = of.limit !== null && !counted && of.used + now.used > of.limit;
    const tooMuch = there.by === "default" && there.limit !== null && now.used > there.limit;
    return [{ name: now.name, brings: now.used, today, there, over: stock(now.name) && (full || tooMuch) }];
  });
}

function limitOf({ limit, limitedBy }: Used): Limit {
  return { limit, by: limitedBy ?? "above" };
}

function limitToday(mover: Mover, now: Used): Limit {
  if (now.limitedBy?.id !== mover.id) return limitOf(now);
  return { limit: now.limit, by: now.own === null ? "default" : "itself" };
}

/** What bounds the company by itself at a place. */
function ownAt(place: Place, { name, own }: Used, defaults: Defaults): Limit | undefined {
  if (own !== null) return { limit: own, by: "itself" };
  const platforms = place.level === 0 ? defaults?.find((one) => one.name === name) : undefined;
  return platforms && { limit: platforms.limit, by: "default" };
}

/** Of equal limits the nearest counts. */
function tightest(above: Limit, own: Limit | undefined): Limit {
  return own && own.limit !== null && (above.limit === null || own.limit <= above.limit) ? own : above;
}

function sameSource(a: Limit["by"], b: Limit["by"]): boolean {
  return a === b || (typeof a === "object" && typeof b === "object" && a.name === b.name);
}

/** Whether what is limited is there to stay, and not what is done in a time. */
export function stock(name: Used["name"]): boolean {
  return !/PER_|CONCURRENT/.test(name);
}
