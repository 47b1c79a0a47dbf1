import { createContext, useContext } from "react";
import type { MeResult } from "./session.gql";

/** Who is signed in. */
export type Me = MeResult["me"] & {
  /** What was taken away while something on the screen is not saved: it is shown as before. */
  lost: readonly Right[];
};

type App = "tenant" | "assistant" | "builder";

/** Which applications' roles give the rights of an area, or one right, in the order in which the platform looks at them. */
const apps: Record<string, readonly App[]> = {
  company: ["tenant"], billing: ["tenant"], user: ["tenant"], permission: ["tenant"], key: ["tenant"], audit: ["tenant"],
  context: ["assistant"],
  agent: ["builder", "assistant"], "agent.write": ["builder"],
  webhook: ["tenant", "assistant", "builder"],
};

/** The rights, named area.verb, in the order in which the platform lists them. */
export const rights = [
  "company.read", "company.write", "company.create", "billing.read", "billing.write", "user.read", "user.write",
  "permission.read", "permission.write", "context.read", "context.write", "agent.read", "agent.write", "agent.run",
  "webhook.read", "webhook.write", "key.read", "key.write", "audit.read",
] as const;

export type Right = (typeof rights)[number];

/** Somebody, as far as what they may do goes. */
export interface Granted {
  customer: { level: number };
  grants: readonly { application: string; features: readonly string[] }[];
}

function appsOf(right: Right): readonly App[] {
  return apps[right] ?? apps[right.split(".")[0]!]!;
}

/** Tells whether somebody's roles have a right. */
export function has(who: Granted, right: Right): boolean {
  return who.grants.some(({ application, features }) => appsOf(right).includes(application as App) && features.includes(right));
}

/** The rights that count in an application. */
export function rightsIn(application: string): Right[] {
  return rights.filter((right) => appsOf(right).includes(application as App));
}

/** What a role lets somebody do in its application. Other rights that it names count in another one alone: here they can be given on, and no more. */
export function givenBy(features: readonly string[], application: string): Right[] {
  return rightsIn(application).filter((right) => features.includes(right));
}

export const MeContext = createContext<Me | null>(null);

interface Rights {
  /** Whether something is shown. */
  can: (right: Right) => boolean;
  /** Whether it can be done, and was not taken away meanwhile. */
  still: (right: Right) => boolean;
  /** An owner in tenant management, who alone deals with what owners have, with keys of others, and with how people sign in. */
  owns: boolean;
  /** Whether a role can be given: nobody gives what their own role in tenant management does not have, and an owner's only an owner. */
  gives: (role: { isOwner: boolean; features: readonly string[] }) => boolean;
}

/** Who is signed in, as what, and what they may do. */
export function useMe(): Me & Rights {
  const me = useContext(MeContext);
  if (!me) throw new Error("useMe is for what is inside the shell");
  const own = me.grants.find(({ application }) => application === "tenant");
  const owns = own?.isOwner ?? false;
  return {
    ...me, owns, can: (right) => has(me, right), still: (right) => has(me, right) && !me.lost.includes(right),
    gives: ({ isOwner, features }) => (owns || !isOwner) && features.every((right) => own?.features.includes(right)),
  };
}
