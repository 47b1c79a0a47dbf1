import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { inside } from "../app/roots";
import { oneOf, text, within } from "../app/address";
import { besides, contextOrders, type ContextsSearch, documentOrders, type DocumentSearch, type DocumentsSearch, findings, modes, type PromptSearch, type QuestionSearch, type QuestionsSearch, shares, statuses } from "./address";

const list = createRoute({
  getParentRoute: () => inside,
  path: "/contexts",
  validateSearch: ({ find, share, order }: Record<string, unknown>): ContextsSearch => ({
    find: text(find), share: oneOf(shares, share), order: oneOf(contextOrders, order),
  }),
  staticData: { needs: "context.read" },
  component: lazyRouteComponent(() => import("./Contexts"), "Contexts"),
});

const create = createRoute({
  getParentRoute: () => list,
  path: "/new",
  staticData: { needs: "context.write" },
  component: lazyRouteComponent(() => import("./Create"), "Create"),
});

const deleted = createRoute({
  getParentRoute: () => list,
  path: "/deleted",
  staticData: { needs: "context.write" },
  component: lazyRouteComponent(() => import("./Deleted"), "DeletedContexts"),
});

const one = createRoute({
  getParentRoute: () => inside,
  path: "/contexts/$contextId",
  staticData: { needs: "context.read" },
  component: lazyRouteComponent(() => import("./Context"), "Context"),
});

const documents = createRoute({
  getParentRoute: () => one,
  path: "/",
  validateSearch: ({ find, status, order }: Record<string, unknown>): DocumentsSearch => ({
    find: text(find), status: oneOf(statuses, status), order: oneOf(documentOrders, order),
  }),
  component: lazyRouteComponent(() => import("./Documents"), "Documents"),
});

const search = createRoute({
  getParentRoute: () => one,
  path: "/search",
  validateSearch: ({ prompt, topN, threshold, mode }: Record<string, unknown>): PromptSearch => ({
    prompt: text(prompt), topN: within(1, 100, topN), threshold: within(0, 1, threshold), mode: oneOf(modes, mode),
  }),
  component: lazyRouteComponent(() => import("./Search"), "Search"),
});

const ask = createRoute({
  getParentRoute: () => one,
  path: "/ask",
  validateSearch: ({ prompt }: Record<string, unknown>): QuestionSearch => ({ prompt: text(prompt) }),
  component: lazyRouteComponent(() => import("./Ask"), "Ask"),
});

const questions = createRoute({
  getParentRoute: () => one,
  path: "/questions",
  validateSearch: ({ found }: Record<string, unknown>): QuestionsSearch => ({ found: oneOf(findings, found) }),
  staticData: { needs: "context.write" },
  component: lazyRouteComponent(() => import("./Questions"), "Questions"),
});

const settings = createRoute({
  getParentRoute: () => one,
  path: "/settings",
  component: lazyRouteComponent(() => import("./Settings"), "Settings"),
});

const deletedDocuments = createRoute({
  getParentRoute: () => one,
  path: "/deleted",
  staticData: { needs: "context.write" },
  component: lazyRouteComponent(() => import("./Deleted"), "DeletedDocuments"),
});

const counted = (value: unknown) => within(0, Number.MAX_SAFE_INTEGER, value);

const document = createRoute({
  getParentRoute: () => one,
  path: "/documents/$documentId",
  validateSearch: ({ chunk, prompt, from, to, page, as, beside }: Record<string, unknown>): DocumentSearch => ({
    chunk: counted(chunk), prompt: text(prompt), from: counted(from), to: counted(to), page: counted(page) || undefined, as: oneOf(["text"], as), beside: oneOf(besides, beside),
  }),
  component: lazyRouteComponent(() => import("./Document"), "Document"),
});

export const contextRoutes = [list.addChildren([create, deleted]), one.addChildren([documents, search, ask, questions, settings, deletedDocuments, document])] as const;
