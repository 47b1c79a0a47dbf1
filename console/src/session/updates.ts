import type { UpdatesConfig } from "@urql/exchange-graphcache";
import { staleQueries } from "../graph/stale";

const me = staleQueries("me");

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
