import { createRootRoute, createRoute, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { signedIn } from "../session/session";
import { Broken } from "../ui/Broken";
import { Missing } from "./Missing";

/** Every address. */
export const root = createRootRoute({ notFoundComponent: Missing, errorComponent: Broken });

/** What is for people who have signed in. Others sign in first, and come back. */
export const inside = createRoute({
  getParentRoute: () => root,
  id: "inside",
  beforeLoad: async ({ location }) => {
    if (await signedIn()) return;
    throw redirect({ href: `/sign-in?to=${encodeURIComponent(location.href)}`, replace: true });
  },
  component: lazyRouteComponent(() => import("./Shell"), "Shell"),
});
