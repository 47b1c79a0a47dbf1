import { createContext, useContext } from "react";
import type { MeResult } from "./session.gql";

export type Me = MeResult["me"];

type App = "tenant" | "assistant" | "builder";

/** Which applications' roles give the rights of an area, in the order in which the platform looks at them. */
const apps: Record<string, readonly App[]> = {
  company: ["tenant"], billing: ["tenant"], user: ["tenant"], permission: ["tenant"], key: ["tenant"], audit: ["tenant"],
  context: ["assistant"],
  agent: ["builder", "assistant"],
  webhook: ["tenant", "assistant", "builder"],
};

/** A right, named area.verb. */
export type Right =
  | "company.read" | "company.write" | "company.create" | "billing.read" | "billing.write" | "user.read" | "user.write"
  | "permission.read" | "permission.write" | "key.read" | "key.write" | "audit.read" | "context.read" | "context.write"
  | "agent.read" | "agent.write" | "agent.run" | "webhook.read" | "webhook.write";

/** Tells whether the caller's roles have a right. */
export function has(me: Me, right: Right): boolean {
  const allowed = apps[right.split(".")[0]!]!;
  return me.grants.some((grant) => allowed.includes(grant.application as App) && grant.features.includes(right));
}

export const MeContext = createContext<Me | null>(null);

/** Who is signed in, as what, and what they may do. */
export function useMe(): Me & { can: (right: Right) => boolean } {
  const me = useContext(MeContext);
  if (!me) throw new Error("useMe is for what is inside the shell");
  return { ...me, can: (right) => has(me, right) };
}
