import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { inside } from "../app/roots";

const list = createRoute({
  getParentRoute: () => inside,
  path: "/keys",
  component: lazyRouteComponent(() => import("./Keys"), "Keys"),
});

const create = createRoute({
  getParentRoute: () => list,
  path: "/new",
  component: lazyRouteComponent(() => import("./Create"), "Create"),
});

const one = createRoute({
  getParentRoute: () => list,
  path: "/$keyId",
  component: lazyRouteComponent(() => import("./Key"), "Key"),
});

export const keyRoutes = list.addChildren([create, one]);
