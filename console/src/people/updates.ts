import type { Cache, UpdatesConfig } from "@urql/exchange-graphcache";
import { forget, staleQueries } from "../graph/stale";

/** Has somebody's permissions asked for again. */
function permissionsOf(cache: Cache, userId: string | undefined): void {
  if (userId) forget(cache, cache.keyOfEntity({ __typename: "User", id: userId })!, ["permissions", "customers"]);
  forget(cache, "Query", ["permissions"]);
}

/** Has the roles of every company asked for again. */
function rolesOf(cache: Cache): void {
  forget(cache, "Query", ["me", "customer", "roles"]);
}

/** What changes of people make stale. */
export const peopleUpdates: UpdatesConfig[string] = {
  createUsers: (_, __, cache) => forget(cache, "Query", ["users", "search", "customer"]),
  withdrawInvitation: staleQueries("user", "users", "search"),
  createPermission: (result, _, cache) => {
    const made = result.createPermission as { permission: { user: { id: string } } } | null;
    permissionsOf(cache, made?.permission.user.id);
  },
  createPermissions: (result, _, cache) => {
    const made = result.createPermissions as { results: { permission: { user: { id: string } } | null }[] } | null;
    for (const { permission } of made?.results ?? []) permissionsOf(cache, permission?.user.id);
  },
  deletePermission: (result, _, cache) => {
    const gone = result.deletePermission as { deletedId: string } | null;
    if (gone) cache.invalidate({ __typename: "Permission", id: gone.deletedId });
    forget(cache, "Query", ["permissions", "user", "users"]);
  },
  createRole: (_, __, cache) => rolesOf(cache),
  deleteRole: (result, _, cache) => {
    const gone = result.deleteRole as { deletedId: string } | null;
    if (gone) cache.invalidate({ __typename: "Role", id: gone.deletedId });
    rolesOf(cache);
  },
  removeUser: staleQueries("user", "users", "search"),
};
