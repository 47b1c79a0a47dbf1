import { CanopyError, fromResponse } from "./errors.js";

/** How requests are sent. */
export interface HttpOptions {
  /** Stands for the global `fetch`. */
  fetch?: typeof fetch;
  /** How often a request that failed for a while is tried again; 4 times by default. */
  retries?: number;
  /** Seconds that the platform may have a request wait before the next try, 30 by default. Beyond it the request fails at once. */
  longestWait?: number;
}

/** After which failures a request may be sent again: any, as it changes nothing or is done once; those before anything was done; none. */
export type Repeat = "always" | "refused" | "never";

/** A request, and what is made of its answer. */
export interface Ask<T> extends RequestInit {
  repeat: Repeat;
  read: (response: Response) => Promise<T>;
  /** Gives what sends it, from what sends all else. */
  via?: ((usual: typeof fetch) => typeof fetch) | undefined;
}

/** Requests to one platform, tried again where that helps. */
export class Http {
  readonly url: string;
  readonly #fetch: typeof fetch;
  readonly #retries: number;
  readonly #longestWait: number;

  constructor(url: string, options: HttpOptions = {}) {
    this.url = url.replace(/\/+$/, "");
    this.#fetch = options.fetch ?? ((...request) => fetch(...request));
    this.#retries = options.retries ?? 4;
    this.#longestWait = options.longestWait ?? 30;
  }

  /** Sends a request until it is answered by 2xx, or another try does not help. Throws `CanopyError`, or the reason of the signal. */
  async send<T>(path: string, ask: Ask<T>): Promise<T> {
    for (let tried = 0; ; tried++) {
      try {
        return await this.#once(path, ask);
      } catch (error) {
        if (!(error instanceof CanopyError) || tried >= this.#retries || !passes(error, ask.repeat)) throw error;
        const wait = error.retryAfter ?? backoff(tried);
        if (wait > this.#longestWait) throw error;
        await sleep(wait, ask.signal);
      }
    }
  }

  async #once<T>(path: string, { repeat: _, read, via, ...init }: Ask<T>): Promise<T> {
    try {
      const response = await (via?.(this.#fetch) ?? this.#fetch)(this.url + path, init);
      if (!response.ok && !leadsOn(response)) throw await fromResponse(response);
      return await read(response);
    } catch (cause) {
      init.signal?.throwIfAborted();
      if (cause instanceof CanopyError) throw cause;
      throw new CanopyError("UNREACHABLE", `${this.url} can't be reached`, { cause });
    }
  }
}

/** Tells whether an answer leads elsewhere, which a request may ask not to follow. */
function leadsOn({ type, status }: Response): boolean {
  return type === "opaqueredirect" || status === 303;
}

/** Tells whether another try may do. */
function passes(error: CanopyError, repeat: Repeat): boolean {
  if (repeat === "never") return false;
  if (error.code === "RATE_LIMITED") return true;
  return repeat === "always" && (error.code === "UNREACHABLE" || error.code === "UNAVAILABLE" || error.reason === "idempotency_in_progress");
}

/** Seconds before the next try: longer each time, and not the same for all. */
export function backoff(tried: number, longest = 8): number {
  return Math.min(longest, 0.25 * 2 ** tried) * (0.5 + Math.random() / 2);
}

/** Waits for some seconds, or until the signal says otherwise. */
export async function sleep(seconds: number, signal?: AbortSignal | null): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    await orAborted(new Promise<void>((done) => (timer = setTimeout(done, seconds * 1000))), signal);
  } finally {
    clearTimeout(timer);
  }
}

/** What a promise gives, unless the signal says that nobody waits for it any more. */
export function orAborted<T>(promise: Promise<T>, signal?: AbortSignal | null): Promise<T> {
  if (!signal) return promise;
  return new Promise((done, failed) => {
    const stop = () => failed(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    promise.then(done, failed).finally(() => signal.removeEventListener("abort", stop));
  });
}
