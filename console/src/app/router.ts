import { createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { companyRoutes } from "../companies/routes";
import { contextRoutes } from "../contexts/routes";
import { keyRoutes } from "../keys/routes";
import { peopleRoutes, roleRoute } from "../people/routes";
import { portalRoutes } from "../portal/routes";
import { outsideRoutes, profileRoute } from "../session/routes";
import { webhookRoutes } from "../webhooks/routes";
import { inside, root } from "./roots";

const home = createRoute({ getParentRoute: () => inside, path: "/", component: lazyRouteComponent(() => import("./Home"), "Home") });

/** Every screen. An area has its own in its routes.ts. */
export const router = createRouter({
  basepath: "/console",
  routeTree: root.addChildren([
    ...outsideRoutes,
    portalRoutes,
    inside.addChildren([
      home,
      profileRoute,
      companyRoutes,
      peopleRoutes,
      roleRoute,
      ...contextRoutes,
      webhookRoutes,
      keyRoutes,
    ]),
  ]),
  defaultPreload: "intent",
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
