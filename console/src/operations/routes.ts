import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { inside } from "../app/roots";
import { timeOf } from "../ui/since";
import { type AuditSearch, measures, type OperationsSearch } from "./address";
import { actorKinds } from "./who";

type Given = Record<string, unknown>;

const word = (given: unknown) => (typeof given === "string" && given !== "" ? given : undefined);
const moment = (given: unknown) => (typeof given === "string" && !Number.isNaN(Date.parse(given)) ? new Date(given).toISOString() : undefined);
const number = (given: unknown) => (typeof given === "number" ? given : undefined);

const overview = createRoute({
  getParentRoute: () => inside,
  path: "/operations",
  validateSearch: ({ by }: Given): OperationsSearch => ({ by: measures.find((one) => one === by) }),
  staticData: { needs: "audit.read" },
  component: lazyRouteComponent(() => import("./Operations"), "Operations"),
});

const audit = createRoute({
  getParentRoute: () => inside,
  path: "/audit",
  validateSearch: ({ action, actor, kind, company, object, outcome, time, since, until }: Given): AuditSearch => ({
    action: word(action),
    actor: number(actor),
    kind: actorKinds.find((one) => one === kind),
    company: number(company),
    object: typeof object === "string" && /^[A-Za-z]+(:\d+)?$/.test(object) ? object : undefined,
    outcome: outcome === "failed" ? outcome : undefined,
    time: timeOf(time),
    since: moment(since),
    until: moment(until),
  }),
  staticData: { needs: "audit.read" },
  component: lazyRouteComponent(() => import("./Audit"), "Audit"),
});

const event = createRoute({
  getParentRoute: () => audit,
  path: "/$eventId",
  component: lazyRouteComponent(() => import("./AuditEvent"), "AuditEvent"),
});

export const operationRoutes = [overview, audit.addChildren([event])] as const;
