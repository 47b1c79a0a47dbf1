import { CanopyError } from "./errors.js";
import { Http, type HttpOptions } from "./http.js";

/** Something that happened to credentials: they stand for another company, or for nobody. */
export type Change = "switched" | "ended";

/** Who asks, and of which platform: a person's session, or an API key. */
export interface Credentials {
  readonly http: Http;
  /** Gives a token that works, and not the one that was refused. All that ask at the same time wait for one renewal. */
  token(refused?: string): Promise<string>;
  /** Tells of changes, until the function that it gives is called. */
  watch(tell: (change: Change) => void): () => void;
}

/** A token, and how long it is good. */
export interface Issued {
  token: string;
  /** Seconds. */
  expiresIn: number;
}

/** Keeps a token, and has it renewed before it runs out. */
export abstract class Tokens implements Credentials {
  readonly http: Http;
  #held: { token: string; renewAt: number; endsAt: number } | undefined;
  #renewal: Promise<string> | undefined;
  readonly #watchers = new Set<(change: Change) => void>();

  protected constructor(http: Http) {
    this.http = http;
  }

  /** Asks the platform for the next token, holds it and gives it. */
  protected abstract renew(): Promise<string>;

  async token(refused?: string): Promise<string> {
    const held = this.#held;
    if (held && held.token !== refused && now() < held.renewAt) return held.token;
    this.#renewal ??= this.renew().finally(() => (this.#renewal = undefined));
    try {
      return await this.#renewal;
    } catch (error) {
      // What is held does for now, where the platform is away for a while.
      if (this.#held && this.#held.token !== refused && now() < this.#held.endsAt && !isRefusal(error)) return this.#held.token;
      throw error;
    }
  }

  /** Keeps a token; no clock but this machine's says how long. */
  protected hold({ token, expiresIn }: Issued): string {
    this.#held = { token, renewAt: now() + expiresIn * 900, endsAt: now() + expiresIn * 1000 };
    return token;
  }

  /** Keeps none any more. */
  protected drop(): void {
    this.#held = undefined;
  }

  watch(tell: (change: Change) => void): () => void {
    this.#watchers.add(tell);
    return () => this.#watchers.delete(tell);
  }

  protected tell(change: Change): void {
    for (const tell of [...this.#watchers]) tell(change);
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof CanopyError && error.code === "UNAUTHENTICATED";
}

/** Milliseconds of a clock that nobody sets. */
function now(): number {
  return performance.now();
}

export interface GivenTokenOptions extends HttpOptions {
  /** Where the platform is. */
  url: string;
  token: string;
  /** Hears that the token is good no more. */
  onEnd?: () => void;
}

/** A token that a page was given, by a server that has an API key. The page can't renew it: who gave it gives the next one. */
export class GivenToken implements Credentials {
  readonly http: Http;
  readonly #onEnd: (() => void) | undefined;
  #token: string | undefined;

  constructor({ url, token, onEnd, ...options }: GivenTokenOptions) {
    this.http = new Http(url, options);
    this.#token = token;
    this.#onEnd = onEnd;
  }

  async token(refused?: string): Promise<string> {
    if (this.#token !== undefined && this.#token === refused) {
      this.#token = undefined;
      this.#onEnd?.();
    }
    if (this.#token === undefined) throw new CanopyError("UNAUTHENTICATED", "the token is good no more");
    return this.#token;
  }

  /** Goes on with the next token, for the same company. */
  give(token: string): void {
    this.#token = token;
  }

  /** Nothing is told: the company stays the same, and who gives the tokens hears by onEnd. */
  watch(): () => void {
    return () => {};
  }
}

/** What an API key is for. */
export interface ApiKeyOptions extends HttpOptions {
  /** Where the platform is. */
  url: string;
  clientId: string;
  clientSecret: string;
  /** The application that its tokens are for. */
  application: "tenant" | "assistant" | "builder";
  /** The account that they stand on; by default the key's eligible one with the lowest id. */
  accountId?: number;
}

/** An API key: for programs on a server, never for a page. */
export class ApiKey extends Tokens {
  readonly #form: string;

  constructor({ url, clientId, clientSecret, application, accountId, ...options }: ApiKeyOptions) {
    super(new Http(url, options));
    const form = new URLSearchParams({
      grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret, target_app: application,
    });
    if (accountId !== undefined) form.set("account_id", String(accountId));
    this.#form = form.toString();
  }

  protected override async renew(): Promise<string> {
    const answer = await this.http.send("/connect/token", {
      method: "POST",
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
      body: this.#form,
      repeat: "always",
      read: (response) => response.json() as Promise<{ access_token: string; expires_in: number }>,
    });
    return this.hold({ token: answer.access_token, expiresIn: answer.expires_in });
  }
}
