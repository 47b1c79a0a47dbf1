import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { oneOf, text, within } from "../app/address";
import { inside } from "../app/roots";
import { type Time, timeOf } from "../ui/since";

type Given = Record<string, unknown>;

export const states = ["runnable", "unpublished", "disabled"] as const;
export const agentOrders = ["name", "newest"] as const;

export interface AgentsSearch {
  find?: string | undefined;
  state?: (typeof states)[number] | undefined;
  order?: (typeof agentOrders)[number] | undefined;
  /** The company whose agents are shown; the caller's own without it. */
  company?: number | undefined;
}

const list = createRoute({
  getParentRoute: () => inside,
  path: "/agents",
  validateSearch: ({ find, state, order, company }: Given): AgentsSearch => ({
    find: text(find), state: oneOf(states, state), order: oneOf(agentOrders, order), company: within(1, Number.MAX_SAFE_INTEGER, company),
  }),
  component: lazyRouteComponent(() => import("./Agents"), "Agents"),
});

export const statuses = ["running", "finished", "failed"] as const;

export interface RunsSearch {
  agent?: number | undefined;
  status?: (typeof statuses)[number] | undefined;
  time?: Time | undefined;
}

const runs = createRoute({
  getParentRoute: () => inside,
  path: "/agents/runs",
  validateSearch: ({ agent, status, time }: Given): RunsSearch => ({
    agent: within(1, Number.MAX_SAFE_INTEGER, agent), status: oneOf(statuses, status), time: timeOf(time),
  }),
  component: lazyRouteComponent(() => import("./Runs"), "Runs"),
});

const secrets = createRoute({ getParentRoute: () => inside, path: "/agents/secrets", component: lazyRouteComponent(() => import("./Secrets"), "Secrets") });

export interface RevisionsSearch {
  /** The global id of the revision that is shown. */
  revision?: string | undefined;
}

export interface TestSearch {
  /** The run that is shown. */
  run?: string | undefined;
}

const agent = createRoute({
  getParentRoute: () => inside,
  path: "/agents/$agentId",
  component: lazyRouteComponent(() => import("./Agent"), "Agent"),
});

export const agentRoutes = [
  list.addChildren([
    createRoute({ getParentRoute: () => list, path: "/new", component: lazyRouteComponent(() => import("./Create"), "Create") }),
  ]),
  runs.addChildren([
    createRoute({ getParentRoute: () => runs, path: "/$jobKey", component: lazyRouteComponent(() => import("./RunPanel"), "RunPanel") }),
  ]),
  secrets.addChildren([
    createRoute({ getParentRoute: () => secrets, path: "/new", component: lazyRouteComponent(() => import("./CreateSecret"), "CreateSecret") }),
    createRoute({ getParentRoute: () => secrets, path: "/$secretId", component: lazyRouteComponent(() => import("./Secret"), "Secret") }),
  ]),
  agent.addChildren([
    createRoute({ getParentRoute: () => agent, path: "/", component: lazyRouteComponent(() => import("./Diagram"), "Diagram") }),
    createRoute({ getParentRoute: () => agent, path: "/changes", component: lazyRouteComponent(() => import("./Changes"), "Changes") }),
    createRoute({
      getParentRoute: () => agent,
      path: "/revisions",
      validateSearch: ({ revision }: Given): RevisionsSearch => ({ revision: text(revision) }),
      component: lazyRouteComponent(() => import("./Revisions"), "Revisions"),
    }),
    createRoute({
      getParentRoute: () => agent,
      path: "/test",
      validateSearch: ({ run }: Given): TestSearch => ({ run: text(run) }),
      component: lazyRouteComponent(() => import("./Test"), "Test"),
    }),
  ]),
] as const;
