import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { inside, root } from "../app/roots";

export interface SignInSearch {
  /** Where to go then. */
  to?: string | undefined;
  /** Why one has to sign in. */
  why?: "out" | "ended" | "customer_suspended" | undefined;
  /** What has become of a sign-in at an identity provider: `in`, or why not. */
  sso?: string | undefined;
}

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: ({ to, why, sso }: Record<string, unknown>): SignInSearch => ({
    to: typeof to === "string" && /^\/(?!\/)/.test(to) ? to : undefined,
    why: why === "out" || why === "ended" || why === "customer_suspended" ? why : undefined,
    sso: typeof sso === "string" ? sso : undefined,
  }),
  component: lazyRouteComponent(() => import("./SignIn"), "SignIn"),
});

const reset = createRoute({
  getParentRoute: () => root,
  path: "/reset",
  component: lazyRouteComponent(() => import("./Reset"), "Reset"),
});

const setPassword = createRoute({
  getParentRoute: () => root,
  path: "/set-password",
  component: lazyRouteComponent(() => import("./SetPassword"), "SetPassword"),
});

/** Screens of those who have not signed in. */
export const outsideRoutes = [signIn, reset, setPassword] as const;

export const profileRoute = createRoute({
  getParentRoute: () => inside,
  path: "/profile",
  component: lazyRouteComponent(() => import("./Profile"), "Profile"),
});
