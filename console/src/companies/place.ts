import type { MovingResult, PlaceResult } from "./companies.gql";

export type Mover = NonNullable<MovingResult["customer"]>;
export type Place = NonNullable<PlaceResult["customer"]>;
type Used = NonNullable<Place["usage"]>[number];

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

interface Named {
  id: string;
  name: string;
}

/**
 * The companies that stand above it at one place alone: whoever may do something there gains it, or loses it. And those by which one reaches
 * it at both, as far as they are in sight: itself among them.
 */
export function changeOfReach(mover: Mover, place: Place): { gain: readonly Named[]; lose: readonly Named[]; stay: readonly Named[] } {
  const now = mover.ancestors;
  const then = [...place.ancestors, place];
  const missing = (of: readonly Named[], from: readonly Named[]) => of.filter(({ id }) => !from.some((one) => one.id === id));
  const both = now.filter(({ id, customer }) => customer && then.some((one) => one.id === id));
  return { gain: missing(then, now), lose: missing(now, then), stay: [...both, mover] };
}

/** The company that does not let those below a place create companies: itself, or one above it in sight. */
export function forbidding(place: Pick<Place, "name" | "descendantsCanAdd" | "ancestors">): { name: string } | undefined {
  const above = [...place.ancestors.flatMap(({ customer }) => (customer ? [customer] : [])), place];
  return above.find(({ descendantsCanAdd }) => !descendantsCanAdd);
}

/** Whether it may create companies at a place, and the company that forbids it there. What is above reach is the same at both places. */
export function mayCreate(mover: Mover, place: Place): { may: boolean; by: string | undefined } {
  const by = forbidding(place);
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

/**
 * What is limited otherwise at a place, as far as it is known of both. A company's own limits go along; the platform's defaults hold right below
 * the root alone.
 */
export function boundsOf(mover: Mover, place: Place, defaults: Defaults): Bound[] {
  const above = new Set(mover.ancestors.map(({ id }) => id));
  return (mover.usage ?? []).flatMap((now) => {
    const of = place.usage?.find(({ name }) => name === now.name);
    if (!of) return [];
    const today = limitToday(mover, now);
    const there = tightest(limitOf(of), ownAt(place, now, defaults));
    // A company that is above both places counts it already.
    const counted = of.limitedBy === null || above.has(of.limitedBy.id);
    const full = of.limit !== null && !counted && of.used + now.used > of.limit;
    const tooMuch = there.by === "default" && there.limit !== null && now.used > there.limit;
    const over = stock(now.name) && (full || tooMuch);
    // The same number is the same limit, whoever has set it, as long as there is room.
    return today.limit === there.limit && !over ? [] : [{ name: now.name, brings: now.used, today, there, over }];
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

/** Whether what is limited is there to stay, and not what is done in a time. */
export function stock(name: Used["name"]): boolean {
  return !/PER_|CONCURRENT/.test(name);
}

/** The part of a limit from which on it is nearly reached. */
export const near = 0.8;
