import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { inside } from "../app/roots";

export interface CompaniesSearch {
  /** What is looked for, in place of the tree. */
  find?: string | undefined;
}

const list = createRoute({
  getParentRoute: () => inside,
  path: "/companies",
  validateSearch: ({ find }: Record<string, unknown>): CompaniesSearch => ({ find: typeof find === "string" && find !== "" ? find : undefined }),
  component: lazyRouteComponent(() => import("./Companies"), "Companies"),
});

const one = createRoute({
  getParentRoute: () => list,
  path: "/$companyId",
  component: lazyRouteComponent(() => import("./Details"), "Details"),
});

const create = createRoute({
  getParentRoute: () => list,
  path: "/$companyId/new",
  component: lazyRouteComponent(() => import("./Create"), "Create"),
});

const usage = createRoute({
  getParentRoute: () => list,
  path: "/$companyId/usage",
  component: lazyRouteComponent(() => import("./Usage"), "Usage"),
});

const billing = createRoute({
  getParentRoute: () => list,
  path: "/$companyId/billing",
  component: lazyRouteComponent(() => import("./Billing"), "Billing"),
});

const move = createRoute({
  getParentRoute: () => list,
  path: "/$companyId/move",
  /** The new place. */
  validateSearch: ({ to }: Record<string, unknown>): { to?: number | undefined } => ({ to: typeof to === "number" ? to : undefined }),
  component: lazyRouteComponent(() => import("./Move"), "Move"),
});

export const companyRoutes = list.addChildren([one, create, usage, billing, move]);
