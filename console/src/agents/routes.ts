import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { oneOf, text, within } from "../app/address";
import { inside } from "../app/roots";
import { timeOf } from "../ui/since";
import { agentOrders, type AgentsSearch, type DiagramSearch, type RevisionsSearch, type RunsSearch, states, statuses, type TestSearch, views } from "./address";

type Given = Record<string, unknown>;

const list = createRoute({
  getParentRoute: () => inside,
  path: "/agents",
  validateSearch: ({ find, state, order, company }: Given): AgentsSearch => ({
    find: text(find), state: oneOf(states, state), order: oneOf(agentOrders, order), company: within(1, Number.MAX_SAFE_INTEGER, company),
  }),
  staticData: { needs: "agent.read" },
  component: lazyRouteComponent(() => import("./Agents"), "Agents"),
});

const runs = createRoute({
  getParentRoute: () => inside,
  path: "/agents/runs",
  validateSearch: ({ agent, status, time }: Given): RunsSearch => ({
    agent: within(1, Number.MAX_SAFE_INTEGER, agent), status: oneOf(statuses, status), time: timeOf(time),
  }),
  staticData: { needs: "agent.read" },
  component: lazyRouteComponent(() => import("./Runs"), "Runs"),
});

const secrets = createRoute({ getParentRoute: () => inside, path: "/agents/secrets", staticData: { needs: "agent.write" }, component: lazyRouteComponent(() => import("./Secrets"), "Secrets") });

const agent = createRoute({
  getParentRoute: () => inside,
  path: "/agents/$agentId",
  staticData: { needs: "agent.read" },
  component: lazyRouteComponent(() => import("./Agent"), "Agent"),
});

export const agentRoutes = [
  list.addChildren([
    createRoute({ getParentRoute: () => list, path: "/new", staticData: { needs: "agent.write" }, component: lazyRouteComponent(() => import("./Create"), "Create") }),
    createRoute({ getParentRoute: () => list, path: "/deleted", staticData: { needs: "agent.write" }, component: lazyRouteComponent(() => import("./DeletedAgents"), "DeletedAgents") }),
  ]),
  runs.addChildren([
    createRoute({ getParentRoute: () => runs, path: "/$jobKey", component: lazyRouteComponent(() => import("./RunPanel"), "RunPanel") }),
  ]),
  secrets.addChildren([
    createRoute({ getParentRoute: () => secrets, path: "/new", component: lazyRouteComponent(() => import("./CreateSecret"), "CreateSecret") }),
    createRoute({ getParentRoute: () => secrets, path: "/deleted", component: lazyRouteComponent(() => import("./DeletedSecrets"), "DeletedSecrets") }),
    createRoute({ getParentRoute: () => secrets, path: "/$secretId", component: lazyRouteComponent(() => import("./Secret"), "Secret") }),
  ]),
  agent.addChildren([
    createRoute({
      getParentRoute: () => agent,
      path: "/",
      validateSearch: ({ view, step }: Given): DiagramSearch => ({ view: oneOf(views, view), step: step === "output" ? step : within(1, Number.MAX_SAFE_INTEGER, step) }),
      component: lazyRouteComponent(() => import("./Diagram"), "Diagram"),
    }),
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
