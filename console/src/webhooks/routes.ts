import { type AnyRoute, createRoute, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { inside } from "../app/roots";
import { timeOf } from "../ui/since";
import { type DeliveriesSearch, type DestinationsSearch, type EventsSearch, statuses } from "./address";

type Given = Record<string, unknown>;

const word = (given: unknown) => (typeof given === "string" && given !== "" ? given : undefined);
const number = (given: unknown) => (typeof given === "number" ? given : undefined);

/** The screens of webhooks, below a route: they are the same in the console and in the portal. */
export function screensBelow<P extends AnyRoute>(parent: P) {
  const getParentRoute = () => parent;
  const destinations = createRoute({
    getParentRoute,
    path: "/destinations",
    validateSearch: ({ company }: Given): DestinationsSearch => ({ company: number(company) }),
    component: lazyRouteComponent(() => import("./Destinations"), "Destinations"),
  });
  const deliveries = createRoute({
    getParentRoute,
    path: "/deliveries",
    validateSearch: ({ company, destination, status, type, time }: Given): DeliveriesSearch => ({
      company: number(company),
      destination: number(destination),
      status: statuses.find((one) => one === status),
      type: word(type),
      time: timeOf(time),
    }),
    component: lazyRouteComponent(() => import("./Deliveries"), "Deliveries"),
  });
  const events = createRoute({
    getParentRoute,
    path: "/events",
    validateSearch: ({ find }: Given): EventsSearch => ({ find: word(find) }),
    component: lazyRouteComponent(() => import("./Events"), "Events"),
  });
  return [
    createRoute({
      getParentRoute,
      path: "/",
      beforeLoad: ({ location }) => {
        throw redirect({ href: `${location.pathname.replace(/\/$/, "")}/destinations`, replace: true });
      },
    }),
    destinations.addChildren([
      createRoute({ getParentRoute: () => destinations, path: "/new", staticData: { needs: "webhook.write" }, component: lazyRouteComponent(() => import("./Create"), "Create") }),
      createRoute({ getParentRoute: () => destinations, path: "/portal-link", staticData: { needs: "key.write" }, component: lazyRouteComponent(() => import("./MakePortalLink"), "MakePortalLink") }),
      createRoute({ getParentRoute: () => destinations, path: "/deleted", staticData: { needs: "webhook.write" }, component: lazyRouteComponent(() => import("./DeletedDestinations"), "DeletedDestinations") }),
      createRoute({ getParentRoute: () => destinations, path: "/$destinationId", component: lazyRouteComponent(() => import("./Destination"), "Destination") }),
      createRoute({ getParentRoute: () => destinations, path: "/$destinationId/edit", staticData: { needs: "webhook.write" }, component: lazyRouteComponent(() => import("./Edit"), "Edit") }),
      createRoute({ getParentRoute: () => destinations, path: "/$destinationId/secret", staticData: { needs: "webhook.write" }, component: lazyRouteComponent(() => import("./Rotate"), "Rotate") }),
      createRoute({ getParentRoute: () => destinations, path: "/$destinationId/verify", component: lazyRouteComponent(() => import("./Verify"), "Verify") }),
      createRoute({ getParentRoute: () => destinations, path: "/$destinationId/recover", staticData: { needs: "webhook.write" }, component: lazyRouteComponent(() => import("./Recover"), "Recover") }),
    ]),
    deliveries.addChildren([
      createRoute({ getParentRoute: () => deliveries, path: "/$deliveryId", component: lazyRouteComponent(() => import("./Delivery"), "Delivery") }),
    ]),
    events.addChildren([
      createRoute({ getParentRoute: () => events, path: "/$eventType", component: lazyRouteComponent(() => import("./Event"), "Event") }),
    ]),
  ] as const;
}

const area = createRoute({ getParentRoute: () => inside, path: "/webhooks", staticData: { needs: "webhook.read" } });

export const webhookRoutes = area.addChildren(screensBelow(area));
