import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { inside } from "../app/roots";
import { oneOf, text, within } from "../app/address";

const shares = ["private", "shared"] as const;
const contextOrders = ["name", "newest"] as const;

export interface ContextsSearch {
  find?: string | undefined;
  share?: (typeof shares)[number] | undefined;
  order?: (typeof contextOrders)[number] | undefined;
}

const list = createRoute({
  getParentRoute: () => inside,
  path: "/contexts",
  validateSearch: ({ find, share, order }: Record<string, unknown>): ContextsSearch => ({
    find: text(find), share: oneOf(shares, share), order: oneOf(contextOrders, order),
  }),
  component: lazyRouteComponent(() => import("./Contexts"), "Contexts"),
});

const create = createRoute({
  getParentRoute: () => list,
  path: "/new",
  component: lazyRouteComponent(() => import("./Create"), "Create"),
});

const one = createRoute({
  getParentRoute: () => inside,
  path: "/contexts/$contextId",
  component: lazyRouteComponent(() => import("./Context"), "Context"),
});

export const statuses = ["pending", "processing", "ready", "failed"] as const;
export const documentOrders = ["newest", "name", "size", "status"] as const;

export interface DocumentsSearch {
  find?: string | undefined;
  status?: (typeof statuses)[number] | undefined;
  order?: (typeof documentOrders)[number] | undefined;
}

const documents = createRoute({
  getParentRoute: () => one,
  path: "/",
  validateSearch: ({ find, status, order }: Record<string, unknown>): DocumentsSearch => ({
    find: text(find), status: oneOf(statuses, status), order: oneOf(documentOrders, order),
  }),
  component: lazyRouteComponent(() => import("./Documents"), "Documents"),
});

export const modes = ["SEMANTIC", "LEXICAL", "HYBRID"] as const;

export interface PromptSearch {
  prompt?: string | undefined;
  topN?: number | undefined;
  threshold?: number | undefined;
  mode?: (typeof modes)[number] | undefined;
}

const search = createRoute({
  getParentRoute: () => one,
  path: "/search",
  validateSearch: ({ prompt, topN, threshold, mode }: Record<string, unknown>): PromptSearch => ({
    prompt: text(prompt), topN: within(1, 100, topN), threshold: within(0, 1, threshold), mode: oneOf(modes, mode),
  }),
  component: lazyRouteComponent(() => import("./Search"), "Search"),
});

export interface QuestionSearch {
  prompt?: string | undefined;
}

const ask = createRoute({
  getParentRoute: () => one,
  path: "/ask",
  validateSearch: ({ prompt }: Record<string, unknown>): QuestionSearch => ({ prompt: text(prompt) }),
  component: lazyRouteComponent(() => import("./Ask"), "Ask"),
});

export const findings = ["nothing", "little"] as const;

export interface QuestionsSearch {
  found?: (typeof findings)[number] | undefined;
}

const questions = createRoute({
  getParentRoute: () => one,
  path: "/questions",
  validateSearch: ({ found }: Record<string, unknown>): QuestionsSearch => ({ found: oneOf(findings, found) }),
  component: lazyRouteComponent(() => import("./Questions"), "Questions"),
});

const settings = createRoute({
  getParentRoute: () => one,
  path: "/settings",
  component: lazyRouteComponent(() => import("./Settings"), "Settings"),
});

export interface DocumentSearch {
  /** The chunk to open at, counted from 0. */
  chunk?: number | undefined;
  /** What was searched for: its words are marked. */
  prompt?: string | undefined;
  /** Where what was cited begins in the chunk, and where it ends, in characters: then that is marked. */
  from?: number | undefined;
  to?: number | undefined;
  /** The page to show, counted from 1. */
  page?: number | undefined;
  /** How the text is shown; as the pieces that are searched by default. */
  as?: "text" | undefined;
  /** What is shown beside the text; the file by default, where there is room for it. */
  beside?: (typeof besides)[number] | undefined;
}

export const besides = ["file", "about"] as const;

const counted = (value: unknown) => within(0, Number.MAX_SAFE_INTEGER, value);

const document = createRoute({
  getParentRoute: () => one,
  path: "/documents/$documentId",
  validateSearch: ({ chunk, prompt, from, to, page, as, beside }: Record<string, unknown>): DocumentSearch => ({
    chunk: counted(chunk), prompt: text(prompt), from: counted(from), to: counted(to), page: counted(page) || undefined, as: oneOf(["text"], as), beside: oneOf(besides, beside),
  }),
  component: lazyRouteComponent(() => import("./Document"), "Document"),
});

export const contextRoutes = [list.addChildren([create]), one.addChildren([documents, search, ask, questions, settings, document])] as const;
