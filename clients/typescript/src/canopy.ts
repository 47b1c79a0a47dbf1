import type { Credentials } from "./credentials.js";
import { type TypedDocument, operationOf } from "./documents.js";
import { CanopyError, fromGraphQL, type GraphQLFault } from "./errors.js";
import { type Ask, orAborted, type Repeat } from "./http.js";
import { type Progress, withProgress } from "./progress.js";
import { Socket, type SubscribeOptions } from "./socket.js";

export interface RequestOptions {
  /** Gives the request up. What it throws is the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Names a change, so that it is done once however often it is asked for within 24 hours; by default a new name for each call. */
  idempotencyKey?: string | undefined;
}

export interface UploadOptions extends Pick<RequestOptions, "signal"> {
  /** Hears how far the upload is. */
  onProgress?: ((progress: Progress) => void) | undefined;
}

export interface CanopyOptions {
  /** Stands for the global `WebSocket`, which Node.js has from version 22 on: before, give it that of the package `ws`. */
  webSocket?: unknown;
}

/** The variables, which may be left out where none is required, and options. */
export type Given<Variables, Options> = {} extends Variables ? [variables?: Variables, options?: Options] : [variables: Variables, options?: Options];

/** One page of a list of the graph. */
export interface Page<T> {
  nodes: readonly T[];
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
}

type Any = Record<string, unknown>;

/** The platform, as one caller sees it. */
export class Canopy {
  readonly credentials: Credentials;
  readonly #webSocket: unknown;
  #socket: Socket | undefined;

  constructor(credentials: Credentials, options: CanopyOptions = {}) {
    this.credentials = credentials;
    this.#webSocket = options.webSocket;
  }

  /** Asks a query, or does a mutation, once. Throws `CanopyError`, with what was answered all the same in `data`. */
  request<R = Any, V = Any>(document: TypedDocument<R, V>, ...[variables, options = {}]: Given<V, RequestOptions>): Promise<R> {
    const query = document.toString();
    const { signal, idempotencyKey } = options;
    const operation = operationOf(query);
    if (operation === "subscription") throw new TypeError("subscriptions are for subscribe()");
    const headers: Record<string, string> = { "Content-Type": "application/json", Accept: graphqlTypes };
    if (operation === "mutation") headers["Idempotency-Key"] = idempotencyKey ?? newKey();
    return this.#send("/graphql", { method: "POST", headers, body: JSON.stringify({ query, variables }), signal, repeat: "always", read: (r) => dataOf<R>(r) });
  }

  /** Does a mutation whose variables hold files, as `Blob` or `File`. It is not repeated after a failure that may have come after it was done. */
  upload<R, V>(document: TypedDocument<R, V>, variables: V, { signal, onProgress }: UploadOptions = {}): Promise<R> {
    const via = onProgress && ((usual: typeof fetch) => withProgress(usual, onProgress));
    const headers = { Accept: graphqlTypes, "GraphQL-Preflight": "1" };
    const body = formOf(document.toString(), variables);
    return this.#send("/graphql", { method: "POST", headers, body, signal, repeat: "refused", via, read: (r) => dataOf<R>(r) });
  }

  /** Gives the events of a subscription, from the first step of a loop over them until it is left. A lost connection comes back by itself, with a token of then. */
  subscribe<R = Any, V = Any>(document: TypedDocument<R, V>, ...[variables, options = {}]: Given<V, SubscribeOptions<R>>): AsyncGenerator<R, void> {
    this.#socket ??= new Socket(this.credentials, this.#webSocket);
    return this.#socket.events<R>(document.toString(), variables, options);
  }

  /** Gives all rows of a list, a page at a time. The document has a variable `$after`; pick finds the list in its result. */
  async *each<T, R, V extends { after?: string | null | undefined }>(
    document: TypedDocument<R, V>,
    variables: Omit<V, "after">,
    pick: (result: R) => Page<T> | null | undefined,
    options: Pick<RequestOptions, "signal"> = {},
  ): AsyncGenerator<T, void> {
    let after: string | null = null;
    do {
      const given = [{ ...variables, after }, options] as unknown as Given<V, RequestOptions>;
      const page: Page<T> | null | undefined = pick(await this.request(document, ...given));
      if (!page) return;
      yield* page.nodes;
      after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
    } while (after !== null);
  }

  /** Asks a path of the REST API, and gives the answer, which is one of 2xx. A change is named by its header `Idempotency-Key`, too. */
  fetch(path: string, init: RequestInit & RequestOptions = {}): Promise<Response> {
    const { idempotencyKey, ...request } = init;
    const method = (init.method ?? "GET").toUpperCase();
    const headers = new Headers(init.headers);
    let repeat: Repeat = method === "GET" || method === "HEAD" ? "always" : "refused";
    if (typeof init.body === "string" && !headers.has("Content-Type")) headers.set("Content-Type", "application/json");
    if (["POST", "PUT", "PATCH"].includes(method) && (init.body == null || typeof init.body === "string")) {
      headers.set("Idempotency-Key", idempotencyKey ?? headers.get("Idempotency-Key") ?? newKey());
      repeat = "always";
    }
    return this.#send(path, { ...request, method, headers: Object.fromEntries(headers), repeat, read: async (response) => response });
  }

  /** Sends a request with a token, and once more with the next one where that is refused. */
  async #send<T>(path: string, ask: Omit<Ask<T>, "headers" | "signal"> & { headers: Record<string, string>; signal?: AbortSignal | null | undefined }): Promise<T> {
    const { credentials } = this;
    const signal = ask.signal ?? null;
    const send = (token: string) => credentials.http.send(path, { ...ask, signal, headers: { ...ask.headers, Authorization: `Bearer ${token}` } });
    const token = await orAborted(credentials.token(), signal);
    try {
      return await send(token);
    } catch (error) {
      if (!(error instanceof CanopyError) || error.status !== 401) throw error;
      return send(await orAborted(credentials.token(token), signal));
    }
  }
}

const graphqlTypes = "application/graphql-response+json, application/json;q=0.9";

async function dataOf<R>(response: Response): Promise<R> {
  const { data, errors } = (await response.json()) as { data?: R | null; errors?: GraphQLFault[] };
  if (errors || data == null) throw fromGraphQL(errors ?? [], data, response.status);
  return data;
}

/** A name that nobody else gives. It also does on pages without https, where there is no `crypto.randomUUID`. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A form as the GraphQL multipart request specification has it. */
function formOf(query: string, variables: unknown): FormData {
  const files: Blob[] = [];
  const map: Record<string, string[]> = {};
  const without = (value: unknown, path: string): unknown => {
    if (value instanceof Blob) {
      map[String(files.push(value) - 1)] = [path];
      return null;
    }
    if (Array.isArray(value)) return value.map((item, i) => without(item, `${path}.${i}`));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, without(member, `${path}.${name}`)]));
  };
  const form = new FormData();
  form.append("operations", JSON.stringify({ query, variables: without(variables, "variables") }));
  form.append("map", JSON.stringify(map));
  files.forEach((file, i) => form.append(String(i), file));
  return form;
}
