import type { CanopyError } from "canopy-client";
import { useAsk } from "../graph/hooks";
import { useMe } from "../session/rights";
import { TenantApplication, WhoReaches, type WhoReachesResult } from "./companies.gql";
import { changeOfReach, type Mover, type Place } from "./place";

export type Reacher = WhoReachesResult["permissions"]["nodes"][number];

/** Who may do something in tenant management of some companies. */
interface Known {
  people: readonly Reacher[];
  /** There are more of them than are known. */
  more: boolean;
}

const nobody: Known = { people: [], more: false };

// So many alternatives the platform takes in one filter.
const mostCompanies = 20;

export interface Reach {
  gain: Known;
  lose: Known;
  known: boolean;
  /** Somebody who would reach it by a role that the caller can't give, so that the platform refuses the move. */
  beyond: Reacher | undefined;
  error: CanopyError | undefined;
  again: () => void;
}

/** Who gains a company by a move, and who loses it, as far as that is known by now; undefined where the caller may not know. */
export function useReach(mover: Mover, place: Place): Reach | undefined {
  const me = useMe();
  const mayRead = me.can("permission.read");
  const applications = useAsk(TenantApplication, {}, { pause: !mayRead });
  const tenant = applications.data?.applications.find(({ code }) => code === "tenant")?.id;
  const { gain, lose, stay } = changeOfReach(mover, place);
  const [here, there, always] = [useWho(lose, tenant), useWho(gain, tenant), useWho(stay, tenant)];
  if (!mayRead) return undefined;
  const asked = [applications, here, there, always];
  const failed = asked.find(({ error }) => error);
  // Who has the same role where it is today and where it will be, or in both places, notices nothing.
  return {
    gain: without(there.who, here.who, always.who), lose: without(here.who, there.who, always.who),
    beyond: there.who.people.find(({ role, account }) => !account.disabled && !me.gives(role)),
    known: tenant !== undefined && asked.every(({ data }) => data !== undefined), error: failed?.error, again: failed?.again ?? (() => undefined),
  };
}

function useWho(companies: readonly { id: string }[], tenant: string | undefined) {
  const none = companies.length === 0;
  const of = companies.slice(-mostCompanies).map(({ id }) => ({ customerId: id }));
  const { data, error, again } = useAsk(WhoReaches, { of, tenant: tenant ?? "" }, { pause: none || tenant === undefined });
  const who: Known = data ? { people: data.permissions.nodes, more: data.permissions.pageInfo.hasNextPage } : nobody;
  return { data: none ? nobody : data, who, error, again };
}

function without({ people, more }: Known, ...others: Known[]): Known {
  const key = ({ user, role }: Reacher) => `${user.id} ${role.id}`;
  const same = new Set(others.flatMap(({ people }) => people.map(key)));
  return { people: people.filter((one) => !same.has(key(one))), more };
}
