export const shares = ["private", "shared"] as const;
export const contextOrders = ["name", "newest"] as const;

export interface ContextsSearch {
  find?: string | undefined;
  share?: (typeof shares)[number] | undefined;
  order?: (typeof contextOrders)[number] | undefined;
}

export const statuses = ["pending", "processing", "ready", "failed"] as const;
export const documentOrders = ["newest", "name", "size", "status"] as const;

export interface DocumentsSearch {
  find?: string | undefined;
  status?: (typeof statuses)[number] | undefined;
  order?: (typeof documentOrders)[number] | undefined;
}

export const modes = ["SEMANTIC", "LEXICAL", "HYBRID"] as const;

export interface PromptSearch {
  prompt?: string | undefined;
  topN?: number | undefined;
  threshold?: number | undefined;
  mode?: (typeof modes)[number] | undefined;
}

export interface QuestionSearch {
  prompt?: string | undefined;
}

export const findings = ["nothing", "little"] as const;

export interface QuestionsSearch {
  found?: (typeof findings)[number] | undefined;
}

export const besides = ["file", "about"] as const;

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
