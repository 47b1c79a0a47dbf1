import type { UpdatesConfig } from "@urql/exchange-graphcache";
import { staleQueries } from "../graph/stale";
import { Me, type MeUpdatedResult } from "./session.gql";

const me = staleQueries("me");

/** What is told of who is signed in takes the place of what was known. */
export const sessionHeard: UpdatesConfig[string] = {
  meUpdated: (result, _, cache) => {
    const { meUpdated: me } = result as unknown as MeUpdatedResult;
    cache.updateQuery({ query: Me.toString() }, () => ({ me }) as never);
  },
};

/** What changes of one's own account make stale. */
export const sessionUpdates: UpdatesConfig[string] = {
  revokeSession: me,
  revokeOtherSessions: me,
  acceptInvitation: me,
  declineInvitation: me,
  createPasskey: me,
  deletePasskey: me,
  confirmTotp: me,
  disableTotp: me,
  leaveCustomer: staleQueries("me", "user", "users", "customers", "search"),
  // Lists tell people by their names.
  updateUser: staleQueries("users", "search"),
};
