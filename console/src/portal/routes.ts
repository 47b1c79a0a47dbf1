import { createRoute, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { root } from "../app/roots";
import { screensBelow } from "../webhooks/routes";
import { takeToken } from "./token";

const portal = createRoute({
  getParentRoute: () => root,
  path: "/portal",
  beforeLoad: ({ location }) => {
    // Out of the address at once, so that nobody finds it in the history.
    if (takeToken(location.hash)) throw redirect({ href: location.pathname + location.searchStr, replace: true });
  },
  component: lazyRouteComponent(() => import("./Portal"), "Portal"),
  notFoundComponent: lazyRouteComponent(() => import("./Portal"), "Missing"),
});

/** The screens of webhooks for a tenant's own customers, who have no account here but a token that a server got for them. */
export const portalRoutes = portal.addChildren(screensBelow(portal));
