import { type Issued, Tokens } from "./credentials.js";
import { CanopyError } from "./errors.js";
import { Http, type HttpOptions, type Repeat, sleep } from "./http.js";
import { type PasskeyAnswer, type PasskeyQuestion, usePasskey } from "./passkeys.js";
import { type AtProvider, providerPath } from "./providers.js";

// The platform gives the successor of a refresh token again for 10 seconds, to whom the answer was lost, and then takes a second use for a theft.
const answerWithin = 4000; // ms
const askAgainUntil = 5000; // ms after the first try
// Why a session is not renewed that the browser has for another person by now.
const somebodyElse = "somebody_else";

/** A company that a person can sign in to. */
export interface CompanyOption {
  customerId: number;
  displayName: string;
  roleName: string;
  isOwner: boolean;
}

/** What a person signs in with. */
export interface SignIn {
  email: string;
  password: string;
  /** The code of the authenticator, or a recovery code, where the platform has answered `otp_required` or `passkey_required`. */
  otp?: string | undefined;
  /** A passkey in place of it, as `session.passkey()` gives it. */
  passkey?: PasskeyAnswer | undefined;
  /** The company; by default the one that the person has belonged to longest. */
  customerId?: number | undefined;
}

/** Where a program keeps the refresh token, which is as good as a password for as long as the session lasts. */
export interface Program {
  /** The refresh token that was kept last. */
  refreshToken?: string | undefined;
  /** Keeps the next one, in place of the one before; undefined: there is none any more. */
  keep?: (refreshToken: string | undefined) => void | Promise<void>;
}

export interface SessionOptions extends HttpOptions {
  /** Where the platform is. */
  url: string;
  /** For programs. A page has its refresh token in a cookie that no script can read. */
  program?: Program;
  /** Hears that the platform has ended the session, so that the person has to sign in again. */
  onEnd?: (why: CanopyError) => void;
}

interface Opened extends Issued {
  customerOptions: CompanyOption[];
  refreshToken?: string;
}

/** A person's session. On a page it is there as soon as it is asked: who has signed in before need not do so again. */
export class Session extends Tokens {
  readonly #program: Program | undefined;
  readonly #onEnd: ((why: CanopyError) => void) | undefined;
  #refreshToken: string | undefined;
  #companies: CompanyOption[] = [];
  #customerId: number | undefined;
  // Whose session it is, also when it has ended: what somebody has begun on a page is nobody else's to go on with.
  #person: string | undefined;
  // Somebody has signed out here, and the platform has not heard of it: what is kept of the session only ends it.
  #left = false;
  #last: Promise<unknown> = Promise.resolve();

  constructor({ url, program, onEnd, ...options }: SessionOptions) {
    super(new Http(url, options));
    this.#program = program;
    this.#refreshToken = program?.refreshToken;
    this.#onEnd = onEnd;
  }

  /** The company that the session is in; undefined before it is known. */
  get customerId(): number | undefined {
    return this.#customerId;
  }

  /** The companies that the person can switch to. */
  get companies(): readonly CompanyOption[] {
    return this.#companies;
  }

  /** Signs a person in. `reason` is `otp_required` where the authenticator's code is missing, and `passkey_required` where a passkey is. */
  signIn(who: SignIn): Promise<void> {
    return this.#begin("", who);
  }

  /** A passkey of the person's, for `signIn`. The browser asks for it; throws what the browser throws, such as `NotAllowedError` of who has given up. */
  async passkey(signal?: AbortSignal): Promise<PasskeyAnswer> {
    const read = (response: Response) => response.json() as Promise<PasskeyQuestion>;
    return usePasskey(await this.http.send("/auth/passkey", { method: "POST", repeat: "always", signal: signal ?? null, read }), signal);
  }

  /** Signs a person in by a passkey alone, which says who it is. Throws as `passkey` does, too. */
  async signInByPasskey({ customerId, signal }: { customerId?: number | undefined; signal?: AbortSignal } = {}): Promise<void> {
    await this.#begin("/passkey", { ...(await this.passkey(signal)), customerId });
  }

  #begin(path: string, who: object): Promise<void> {
    return this.#alone(async () => {
      await this.#opened(await this.#ask("POST", path, { ...who, cookie: !this.#program }, "refused"));
      this.tell("switched");
    });
  }

  /**
   * The first question of a sign-in page: which way in an address has. Leads to the identity provider of its company, as `leadToProvider` does; where there is none it is
   * `password`, which the page asks for next.
   */
  async wayIn(who: AtProvider & { email: string }): Promise<"provider" | "password"> {
    const there = providerPath(who);
    const way = await this.http.send(`${there}&look=true`, { redirect: "manual", repeat: "refused", read: async ({ status }) => (status === 204 ? "password" : "provider") });
    if (way === "provider") location.assign(this.http.url + there);
    return way;
  }

  /**
   * Leads a page to the identity provider of an address, or to one that is named. `reason` is `sso_unknown` where there is none. The provider leads back to a page
   * of the platform, which goes on by `arrived`.
   */
  async leadToProvider(where: AtProvider): Promise<void> {
    const there = providerPath(where);
    await this.http.send(there, { redirect: "manual", repeat: "refused", read: async () => undefined });
    location.assign(this.http.url + there);
  }

  /** On the page that a provider has led back to: goes on with the session that has begun there. False on any other; throws why somebody was turned away, as `reason`. */
  async arrived(search: string = location.search): Promise<boolean> {
    const sso = new URLSearchParams(search).get("sso");
    if (sso === null) return false;
    if (sso !== "in") throw new CanopyError("FORBIDDEN", "the identity provider has not got the person in", { reason: sso });
    return this.resume();
  }

  /** Tells whether somebody has signed in before, and goes on with that session, whose ever it is. */
  async resume(): Promise<boolean> {
    this.#left = false;
    if (this.#customerId === undefined) this.#person = undefined;
    try {
      await this.token();
      return true;
    } catch (error) {
      if (error instanceof CanopyError && error.code === "UNAUTHENTICATED") return false;
      throw error;
    }
  }

  /** Goes on in another company, without the password. What is open begins anew there. */
  switchTo(customerId: number): Promise<void> {
    return this.#alone(async () => {
      await this.#refresh(customerId);
      this.tell("switched");
    });
  }

  /**
   * Ends the session, here at once, and on the platform. Where that can't be reached it throws, and what is kept of the session stays, so that another call ends it.
   * Gives the page where the person signs out at the identity provider that it came from, if there is one.
   */
  signOut(): Promise<string | undefined> {
    return this.#alone(async () => {
      this.#left = true;
      this.#person = undefined;
      this.#end();
      if (this.#program && this.#refreshToken === undefined) return undefined;
      const read = async (response: Response) => ((await response.json()) as { redirectTo: string | null }).redirectTo ?? undefined;
      const there = await this.http.send("/auth/session/sign-out", { ...this.#request("POST", { refreshToken: this.#refreshToken }), repeat: "always", read });
      await this.#keepNone();
      return there;
    });
  }

  /** Forgets the session here, and nowhere else: as where the person has signed out in another tab. */
  forget(): Promise<void> {
    return this.#alone(() => {
      this.#person = undefined;
      return this.#forget();
    });
  }

  protected override renew(): Promise<string> {
    return this.#alone(() => this.#refresh(this.#customerId));
  }

  /** Does one thing with the refresh token at a time: in this page, and in all tabs that share the cookie. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const locks = this.#program ? undefined : (globalThis.navigator as Navigator | undefined)?.locks;
    const one = this.#last.then(() => (locks ? locks.request(`canopy-session ${this.http.url}`, work) : work()));
    this.#last = one.catch(() => undefined);
    return one;
  }

  /** The next token of the session, in a company. */
  async #refresh(customerId: number | undefined): Promise<string> {
    const signedIn = this.#customerId !== undefined || this.#refreshToken !== undefined;
    if (this.#left || (this.#program && this.#refreshToken === undefined)) {
      throw new CanopyError("UNAUTHENTICATED", "nobody has signed in", { reason: "session_ended" });
    }
    try {
      const opened = await this.#refreshed({ customerId, refreshToken: this.#refreshToken });
      if (this.#person !== undefined && claimsOf(opened.token).sub !== this.#person) {
        throw new CanopyError("UNAUTHENTICATED", "somebody else has signed in with this browser", { reason: somebodyElse });
      }
      return await this.#opened(opened);
    } catch (error) {
      if (!(error instanceof CanopyError) || error.code !== "UNAUTHENTICATED") throw error;
      if (signedIn || error.reason !== somebodyElse) await this.#forget();
      if (signedIn) this.#onEnd?.(error);
      throw error;
    }
  }

  /** Asks for the next refresh token, and soon again where the answer was lost. */
  async #refreshed(body: object): Promise<Opened> {
    const began = performance.now();
    for (;;) {
      try {
        return await this.#ask("POST", "/refresh", body, "never", AbortSignal.timeout(answerWithin));
      } catch (cause) {
        const error = cause instanceof CanopyError ? cause : new CanopyError("UNREACHABLE", `${this.http.url} does not answer`, { cause });
        const lost = error.code === "UNREACHABLE" || error.code === "UNAVAILABLE";
        if (!lost || performance.now() - began > askAgainUntil) throw error;
        await sleep(0.5);
      }
    }
  }

  #ask(method: string, path: string, body: object, repeat: Repeat, signal?: AbortSignal): Promise<Opened> {
    return this.http.send(`/auth/session${path}`, {
      ...this.#request(method, body),
      signal: signal ?? null,
      repeat,
      read: (response) => response.json() as Promise<Opened>,
    });
  }

  #request(method: string, body: object): RequestInit {
    return { method, headers: { "Content-Type": "application/json" }, credentials: "include", body: JSON.stringify(body) };
  }

  async #opened(opened: Opened): Promise<string> {
    this.#left = false;
    this.#companies = opened.customerOptions;
    ({ cid: this.#customerId, sub: this.#person } = claimsOf(opened.token));
    if (this.#program) {
      this.#refreshToken = opened.refreshToken;
      await this.#program.keep?.(opened.refreshToken);
    }
    return this.hold(opened);
  }

  #forget(): Promise<void> {
    this.#end();
    return this.#keepNone();
  }

  /** The session is over here. */
  #end(): void {
    this.drop();
    this.#companies = [];
    this.#customerId = undefined;
    this.tell("ended");
  }

  /** Keeps nothing any more by which the session could go on. */
  async #keepNone(): Promise<void> {
    this.#left = false;
    this.#refreshToken = undefined;
    await this.#program?.keep?.(undefined);
  }
}

/** The company and the person in a token's claims (RFC 7519). */
function claimsOf(token: string): { cid?: number; sub?: string } {
  const claims = token.split(".")[1]?.replaceAll("-", "+").replaceAll("_", "/");
  return claims === undefined ? {} : (JSON.parse(atob(claims)) as { cid?: number; sub?: string });
}
