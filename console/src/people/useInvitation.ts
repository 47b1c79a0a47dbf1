import { CanopyError } from "canopy-client";
import { useState } from "react";
import { useChange } from "../graph/hooks";
import { useText } from "../text";
import { refusalIn, whyOf } from "../ui/Problem";
import { GrantAll, InvitePeople } from "./people.gql";
import { type Due, dueOf, type Gift, noted, type Outcome } from "./invitation";
import type { Invitee } from "./parse";

/** How many the platform takes at a time. */
export const most = 200;

/** Invites people and gives them permissions, which are two requests; what became of each is known whatever fails in between. */
export function useInvitation() {
  const invitePeople = useChange(InvitePeople);
  const { text } = useText();
  const grantAll = useChange(GrantAll);
  const [outcomes, setOutcomes] = useState<readonly Outcome[]>([]);

  /** Gives what is due; what the platform did not answer counts as not given. */
  const give = async (of: readonly Outcome[]): Promise<void> => {
    let known = of;
    const due = dueOf(of);
    for (let from = 0; from < due.length; from += most) {
      known = noted(known, await asked(due.slice(from, from + most)));
      setOutcomes(known);
    }
  };
  const asked = async (due: readonly Due[]): Promise<(Due & { why: string | undefined })[]> => {
    try {
      const { createPermissions } = await grantAll({ input: { permissions: due.map(({ userId, gift: { accountId, roleId } }) => ({ userId, accountId, roleId })) } });
      const why = new Map(createPermissions!.results.map(({ index, error }) => [index, error ? refusalIn(text, error) : undefined]));
      return due.map((one, index) => ({ ...one, why: why.get(index) }));
    } catch (error) {
      if (!(error instanceof CanopyError)) throw error;
      return due.map((one) => ({ ...one, why: whyOf(error, text) ?? error.message }));
    }
  };
  return {
    outcomes,
    /** Gives those who could not be invited. */
    invite: async (customerId: number, people: readonly Invitee[], gifts: readonly Gift[]): Promise<Invitee[]> => {
      const { createUsers } = await invitePeople({ input: { customerId, users: [...people] } });
      const became = createUsers!.results.map(({ index, error, user }): Outcome => ({
        who: people[index]!, userId: user?.id, personId: user?.databaseId, why: error ? refusalIn(text, error) : undefined, given: [], missing: user ? gifts.map((gift) => ({ gift, why: "" })) : [],
      }));
      setOutcomes(became);
      await give(became);
      return became.filter(({ why }) => why !== undefined).map(({ who }) => who);
    },
    /** Tries once more what could not be given. */
    giveAgain: () => give(outcomes),
  };
}
