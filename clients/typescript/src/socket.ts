import { type Client, createClient } from "graphql-ws/client";
import type { Credentials } from "./credentials.js";
import { CanopyError, fromGraphQL, type GraphQLFault } from "./errors.js";
import { backoff, sleep } from "./http.js";

const longestPause = 30; // seconds between two tries to connect
const pingEvery = 15_000; // ms
const pongWithin = 5_000; // ms
const mostWaiting = 1_000; // events
const mostRefused = 3;
const listensBy = 3_000; // ms after which the platform listens for a subscription, of which it does not tell
const unauthorized = 4401; // the code that a connection is closed with whose token stopped working
// The codes that a connection is closed with which is followed by another one: nobody used it any more, or its token had to be renewed.
const followed = [1000, unauthorized, 4403];
const comeLater = 1013; // the code that a connection is closed with where the platform has no room, or a part of it is away

export interface SubscribeOptions<R> {
  /** Ends the subscription. */
  signal?: AbortSignal | undefined;
  /**
   * Asks how things are once there is a connection, the first one and each after an interruption, and once more a few seconds later: what happened before the
   * platform listens is not told. What it gives comes first.
   */
  look?: (() => Promise<R>) | undefined;
  /** Ends with `UNREACHABLE` where the connection is lost, in place of coming back: for what would begin anew, such as an answer. */
  once?: boolean | undefined;
  /** Hears of each connection. */
  onConnected?: (() => void) | undefined;
  /** Hears of events that could not be read, or not as a whole. */
  onError?: ((why: CanopyError) => void) | undefined;
}

type Result = { data?: unknown; errors?: readonly unknown[] | undefined };

/** One WebSocket for all subscriptions, which comes back after each interruption. */
export class Socket {
  readonly #credentials: Credentials;
  readonly #client: Client;
  readonly #connected = new Set<() => void>();
  readonly #closed = new Set<(why: unknown) => void>();
  #token: string | undefined;
  #isOpen = () => false;

  constructor(credentials: Credentials, webSocket: unknown) {
    this.#credentials = credentials;
    let socket: WebSocket;
    let unanswered: ReturnType<typeof setTimeout> | undefined;
    this.#client = createClient({
      url: `${credentials.http.url.replace(/^http/, "ws")}/graphql`,
      webSocketImpl: webSocket,
      connectionParams: async () => {
        this.#token = await credentials.token();
        return { authorization: `Bearer ${this.#token}` };
      },
      retryAttempts: Infinity,
      retryWait: (tried) => sleep(backoff(tried, longestPause)),
      shouldRetry: (why) => !(why instanceof CanopyError) || why.code === "UNREACHABLE" || why.code === "UNAVAILABLE" || why.code === "RATE_LIMITED",
      keepAlive: pingEvery,
      on: {
        opened: (opened) => (socket = opened as WebSocket),
        connected: () => {
          this.#isOpen = () => socket.readyState === 1;
          this.#connected.forEach((tell) => tell());
        },
        ping: (received) => {
          if (!received) unanswered = setTimeout(() => socket.close(4408, "no pong"), pongWithin);
        },
        pong: (received) => {
          if (received) clearTimeout(unanswered);
        },
        closed: (why) => {
          this.#isOpen = () => false;
          clearTimeout(unanswered);
          this.#closed.forEach((tell) => tell(why));
        },
      },
    });
    credentials.watch((change) => {
      if (change === "switched") this.#client.terminate(); // and connect again, with the token of now
    });
  }

  /** Gives the events of a subscription as they come. */
  async *events<R>(query: string, variables: unknown, { signal, look, once, onConnected, onError }: SubscribeOptions<R>): AsyncGenerator<R, void> {
    signal?.throwIfAborted();
    const waiting = new Waiting<R>();
    let refused = 0;
    let stop = () => {};
    let over = false;
    let again: ReturnType<typeof setTimeout> | undefined;
    const begin = () => {
      if (over) return;
      stop = this.#client.subscribe<R>(
        { query, variables: variables as Record<string, unknown> },
        {
          next: (result) => {
            if (ranOut(result)) return; // the connection is closed next, and comes back with another token
            refused = 0;
            const why = result.errors && fromGraphQL(result.errors as unknown as GraphQLFault[], result.data);
            if (why && once && !result.data) return waiting.end(why);
            if (why) onError?.(why);
            if (result.data) waiting.put(result.data);
          },
          error: (why) => {
            if (!isUnauthorized(why) || ++refused > mostRefused) return waiting.end(asError(why, this.#credentials.http.url));
            this.#credentials.token(this.#token).then(begin, (error) => waiting.end(error));
          },
          complete: () => waiting.end(),
        },
      );
    };
    const abort = () => waiting.end(signal?.reason);
    const unwatch = this.#credentials.watch((change) => {
      if (change === "ended") waiting.end(new CanopyError("UNAUTHENTICATED", "the session has ended", { reason: "session_ended" }));
    });
    signal?.addEventListener("abort", abort, { once: true });
    const connected = () => {
      onConnected?.();
      if (!look) return;
      waiting.putFirst(look());
      clearTimeout(again);
      again = setTimeout(() => waiting.putFirst(look()), listensBy);
    };
    const closed = (why: unknown) => {
      clearTimeout(again);
      if (once && !followed.includes((why as CloseEvent).code)) waiting.end(asError(why, this.#credentials.http.url));
    };
    this.#connected.add(connected);
    this.#closed.add(closed);
    try {
      begin();
      if (this.#isOpen()) connected();
      yield* waiting;
    } finally {
      over = true;
      clearTimeout(again);
      stop();
      unwatch();
      signal?.removeEventListener("abort", abort);
      this.#connected.delete(connected);
      this.#closed.delete(closed);
    }
  }
}

/** A token that has run out is a matter of course. */
function ranOut({ data, errors }: Result): boolean {
  return !data && (errors as GraphQLFault[] | undefined)?.[0]?.extensions?.code === "UNAUTHENTICATED";
}

function isUnauthorized(why: unknown): boolean {
  if (Array.isArray(why)) return (why as GraphQLFault[])[0]?.extensions?.code === "UNAUTHENTICATED";
  return (why as { code?: unknown } | null)?.code === unauthorized;
}

function asError(why: unknown, url: string): CanopyError {
  if (why instanceof CanopyError) return why;
  if (Array.isArray(why)) return fromGraphQL(why as GraphQLFault[]);
  const { reason, code } = (why ?? {}) as { reason?: string; code?: number };
  return new CanopyError(code === comeLater ? "UNAVAILABLE" : "UNREACHABLE", reason || `${url} can't be reached`, { cause: why });
}

/** Events that wait for their reader, and the end. */
class Waiting<T> implements AsyncIterable<T> {
  readonly #events: T[] = [];
  /** How many events are asked for that come before those of now. */
  #awaited = 0;
  #ended: { why: unknown } | undefined;
  #wake = () => {};

  /** Takes an event. Where the reader is too far behind, that is the end. */
  put(event: T): void {
    if (this.#events.length < mostWaiting) this.#events.push(event);
    else this.end(new CanopyError("UNAVAILABLE", `${mostWaiting} events wait for their reader`, { reason: "reader_behind" }));
    this.#wake();
  }

  /** Takes an event that comes before those which are put until it is there. */
  putFirst(event: Promise<T>): void {
    this.#awaited++;
    event.then((it) => this.#events.unshift(it), (why) => this.end(why)).finally(() => {
      this.#awaited--;
      this.#wake();
    });
  }

  end(why?: unknown): void {
    this.#ended ??= { why };
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    for (;;) {
      while (this.#awaited === 0 && this.#events.length > 0) yield this.#events.shift()!;
      if (this.#ended) {
        if (this.#ended.why !== undefined) throw this.#ended.why;
        return;
      }
      await new Promise<void>((wake) => (this.#wake = wake));
    }
  }
}
