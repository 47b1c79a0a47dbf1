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
  staticData: { needs: "company.read" },
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
  staticData: { needs: "company.create" },
  component: lazyRouteComponent(() => import("./Create"), "Create"),
});

const deleted = createRoute({
  getParentRoute: () => list,
  path: "/deleted",
  staticData: { needs: "company.write" },
  component: lazyRouteComponent(() => import("./DeletedCompanies"), "DeletedCompanies"),
});

const usage = createRoute({
  getParentRoute: () => list,
  path: "/$companyId/usage",
  component: lazyRouteComponent(() => import("./Usage"), "Usage"),
});

const billing = createRoute({
  getParentRoute: () => list,
  path: "/$companyId/billing",
  staticData: { needs: "billing.read" },
  component: lazyRouteComponent(() => import("./Billing"), "Billing"),
});

const move = createRoute({
  getParentRoute: () => list,
  path: "/$companyId/move",
  /** The new place. */
  validateSearch: ({ to }: Record<string, unknown>): { to?: number | undefined } => ({ to: typeof to === "number" ? to : undefined }),
  staticData: { needs: "company.write" },
  component: lazyRouteComponent(() => import("./Move"), "Move"),
});

export const companyRoutes = list.addChildren([one, create, deleted, usage, billing, move]);
