import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { inside } from "../app/roots";

const providers = createRoute({ getParentRoute: () => inside, path: "/identity", staticData: { needs: "company.read" }, component: lazyRouteComponent(() => import("./Providers"), "Providers") });
const directories = createRoute({ getParentRoute: () => inside, path: "/identity/directories", staticData: { needs: "key.read" }, component: lazyRouteComponent(() => import("./Directories"), "Directories") });

export const identityRoutes = [
  providers.addChildren([
    createRoute({ getParentRoute: () => providers, path: "/new", staticData: { needs: "company.write" }, component: lazyRouteComponent(() => import("./Provider"), "NewProvider") }),
    createRoute({ getParentRoute: () => providers, path: "/$providerId", component: lazyRouteComponent(() => import("./Provider"), "Provider") }),
  ]),
  directories.addChildren([
    createRoute({ getParentRoute: () => directories, path: "/new", staticData: { needs: "key.write" }, component: lazyRouteComponent(() => import("./Directory"), "NewDirectory") }),
    createRoute({ getParentRoute: () => directories, path: "/$tokenId", component: lazyRouteComponent(() => import("./Directory"), "Directory") }),
  ]),
] as const;
