import { createRootRoute, createRoute, lazyRouteComponent, notFound, redirect } from "@tanstack/react-router";
import { signedIn } from "../session/session";
import { Broken } from "../ui/Broken";
import { Missing } from "./Missing";

/** Every address. */
export const root = createRootRoute({ notFoundComponent: Missing, errorComponent: Broken });

/** What is for people who have signed in. Others sign in first, and come back. */
export const inside = createRoute({
  getParentRoute: () => root,
  id: "inside",
  beforeLoad: async ({ location, params }) => {
    const open = await signedIn();
    if (open === true) {
      // What has an id has a number: nothing is at an address with another word in its place.
      if (Object.entries(params).some(([name, value]) => name.endsWith("Id") && !/^\d{1,16}$/.test(String(value)))) throw notFound();
      return;
    }
    const search = new URLSearchParams({ to: location.href, ...(open && { why: open }) });
    throw redirect({ href: `/sign-in?${search}`, replace: true });
  },
  component: lazyRouteComponent(() => import("./Shell"), "Shell"),
});
