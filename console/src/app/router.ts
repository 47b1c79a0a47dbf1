import { createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { agentRoutes } from "../agents/routes";
import { companyRoutes } from "../companies/routes";
import { contextRoutes } from "../contexts/routes";
import { identityRoutes } from "../identity/routes";
import { keyRoutes } from "../keys/routes";
import { operationRoutes } from "../operations/routes";
import { peopleRoutes, roleRoutes } from "../people/routes";
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
      roleRoutes,
      ...contextRoutes,
      ...agentRoutes,
      webhookRoutes,
      keyRoutes,
      ...identityRoutes,
      ...operationRoutes,
    ]),
  ]),
  defaultPreload: "intent",
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
