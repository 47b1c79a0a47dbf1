import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { inside } from "../app/roots";

const list = createRoute({
  getParentRoute: () => inside,
  path: "/keys",
  staticData: { needs: "key.read" },
  component: lazyRouteComponent(() => import("./Keys"), "Keys"),
});

const create = createRoute({
  getParentRoute: () => list,
  path: "/new",
  /** Whom it acts as, where that is not the caller. */
  validateSearch: ({ user }: Record<string, unknown>): { user?: number | undefined } => ({ user: typeof user === "number" ? user : undefined }),
  staticData: { needs: "key.write" },
  component: lazyRouteComponent(() => import("./Create"), "Create"),
});

const one = createRoute({
  getParentRoute: () => list,
  path: "/$keyId",
  component: lazyRouteComponent(() => import("./Key"), "Key"),
});

export const keyRoutes = list.addChildren([create, one]);
