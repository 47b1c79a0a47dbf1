import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { inside } from "../app/roots";
import type { PeopleSearch } from "./address";

const list = createRoute({
  getParentRoute: () => inside,
  path: "/people",
  validateSearch: ({ find, company, password }: Record<string, unknown>): PeopleSearch => ({
    find: typeof find === "string" && find !== "" ? find : undefined,
    company: typeof company === "number" ? company : undefined,
    password: password === "yes" || password === "no" ? password : undefined,
  }),
  staticData: { needs: "user.read" },
  component: lazyRouteComponent(() => import("./People"), "People"),
});

const invite = createRoute({
  getParentRoute: () => list,
  path: "/invite",
  staticData: { needs: "user.write" },
  component: lazyRouteComponent(() => import("./Invite"), "Invite"),
});

const invitations = createRoute({
  getParentRoute: () => list,
  path: "/invitations",
  /** Those that were answered or taken back, too. */
  validateSearch: ({ all }: Record<string, unknown>): { all?: boolean | undefined } => ({ all: all === true || undefined }),
  component: lazyRouteComponent(() => import("./Invitations"), "Invitations"),
});

const one = createRoute({
  getParentRoute: () => list,
  path: "/$personId",
  component: lazyRouteComponent(() => import("./Person"), "Person"),
});

const grant = createRoute({
  getParentRoute: () => list,
  path: "/$personId/grant",
  staticData: { needs: "permission.write" },
  component: lazyRouteComponent(() => import("./Grant"), "Grant"),
});

const preview = createRoute({
  getParentRoute: () => list,
  path: "/$personId/preview",
  component: lazyRouteComponent(() => import("./Preview"), "Preview"),
});

export const peopleRoutes = list.addChildren([invite, invitations, one, grant, preview]);

const roles = createRoute({
  getParentRoute: () => inside,
  path: "/roles",
  staticData: { needs: "permission.read" },
  component: lazyRouteComponent(() => import("./Roles"), "Roles"),
});

const newRole = createRoute({
  getParentRoute: () => roles,
  path: "/new",
  /** The role that it begins as a copy of. */
  validateSearch: ({ from }: Record<string, unknown>): { from?: number | undefined } => ({ from: typeof from === "number" ? from : undefined }),
  staticData: { needs: "permission.write" },
  component: lazyRouteComponent(() => import("./CreateRole"), "CreateRole"),
});

const role = createRoute({
  getParentRoute: () => roles,
  path: "/$roleId",
  component: lazyRouteComponent(() => import("./Role"), "Role"),
});

export const roleRoutes = roles.addChildren([newRole, role]);
