import { CanopyError } from "canopy-client";
import { canopy, currentSigned, watchSigned } from "../session/session";
import { UploadDocument } from "./contexts.gql";
import { isRead } from "./files";

const atOnce = 3;

/** A file on its way to the platform. */
export interface Sending {
  id: number;
  file: File;
  state: "waiting" | "sending" | "refused";
  /** Part of its bytes that is sent, 0 to 1. */
  sent: number;
  /** Why the platform did not take it. */
  error?: CanopyError | undefined;
}

/** The files on their way into one context, which go on whatever page is open. */
export class Uploads {
  /** Those that the platform has not taken yet. */
  files: Sending[] = [];
  /** Files that the platform took since the list was empty. */
  taken = 0;
  /** Names of files of kinds that the platform does not read: they are not sent. */
  leftOut: string[] = [];
  /** When sending goes on, in ms since 1970, where the platform asked to wait. */
  pausedUntil = 0;
  readonly #contextId: string;
  readonly #stop = new AbortController();
  readonly #listeners = new Set<() => void>();
  #version = 0;
  #last = 0;

  constructor(contextId: string) {
    this.#contextId = contextId;
  }

  /** Takes files to send. */
  add(files: readonly File[]): void {
    if (this.files.length === 0) this.clear();
    // Hidden files of a folder are nobody's documents.
    const shown = files.filter(({ name }) => !name.startsWith("."));
    this.leftOut = [...this.leftOut, ...shown.filter(({ name }) => !isRead(name)).map(({ name }) => name)];
    const more = shown.filter(({ name }) => isRead(name)).map((file): Sending => ({ id: ++this.#last, file, state: "waiting", sent: 0 }));
    this.files = [...this.files, ...more];
    this.#send();
  }

  /** Sends those again that were refused, or one of them. */
  again(id?: number): void {
    for (const one of this.files) {
      if (one.state === "refused" && (id === undefined || one.id === id)) this.#set(one, { state: "waiting", sent: 0, error: undefined });
    }
    this.#send();
  }

  /** Gives up those that are not under way. */
  drop(id?: number): void {
    this.files = this.files.filter((one) => one.state === "sending" || (id !== undefined && one.id !== id));
    this.#tell();
  }

  /** Forgets what was done. */
  clear(): void {
    this.taken = 0;
    this.leftOut = [];
    this.#tell();
  }

  /** Ends all. */
  end(): void {
    this.files = [];
    this.#stop.abort();
  }

  get busy(): boolean {
    return this.files.some(({ state }) => state !== "refused");
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly version = (): number => this.#version;

  /** Begins with as many as may go at once. */
  #send(): void {
    const room = this.pausedUntil > Date.now() ? 0 : atOnce - this.files.filter(({ state }) => state === "sending").length;
    for (const one of this.files.filter(({ state }) => state === "waiting").slice(0, Math.max(0, room))) void this.#upload(one);
    this.#tell();
  }

  async #upload(one: Sending): Promise<void> {
    this.#set(one, { state: "sending" });
    const { signal } = this.#stop;
    try {
      const onProgress = ({ sent, total }: { sent: number; total: number }) => {
        this.#set(one, { sent: total > 0 ? sent / total : 1 });
        this.#tell();
      };
      await canopy.upload(UploadDocument, { input: { contextId: this.#contextId, file: one.file } }, { signal, onProgress });
      this.files = this.files.filter(({ id }) => id !== one.id);
      this.taken++;
    } catch (why) {
      if (signal.aborted) return;
      if (!(why instanceof CanopyError)) throw why;
      this.#refused(one, why);
    }
    this.#send();
  }

  #refused(one: Sending, error: CanopyError): void {
    if (error.code === "RATE_LIMITED" && error.retryAfter !== undefined) {
      this.#set(one, { state: "waiting", sent: 0 });
      this.pausedUntil = Date.now() + error.retryAfter * 1000;
      setTimeout(() => this.#send(), error.retryAfter * 1000);
      return;
    }
    this.#set(one, { state: "refused", error });
    // Where there is no room for one more document, there is none for those that wait.
    if (error.reason === "limit_reached") this.files.filter(({ state }) => state === "waiting").forEach((other) => this.#set(other, { state: "refused", error }));
  }

  /** Replaces what is known of a file: lists that were shown stay as they were. */
  #set({ id }: Sending, change: Partial<Sending>): void {
    this.files = this.files.map((one) => (one.id === id ? { ...one, ...change } : one));
  }

  #tell(): void {
    this.#version++;
    this.#listeners.forEach((tell) => tell());
  }
}

const all = new Map<string, Uploads>();
let customer = customerNow();

// What one company's member sends does not go on as that of another.
watchSigned(() => {
  if (customerNow() === customer) return;
  customer = customerNow();
  all.forEach((uploads) => uploads.end());
  all.clear();
});

function customerNow(): number | undefined {
  const signed = currentSigned();
  return signed.state === "in" ? signed.customerId : undefined;
}

// A page that is left takes what it sends with it: the browser asks first.
addEventListener("beforeunload", (event) => {
  if ([...all.values()].some(({ busy }) => busy)) event.preventDefault();
});

/** The files on their way into a context. */
export function uploadsInto(contextId: string): Uploads {
  const uploads = all.get(contextId) ?? new Uploads(contextId);
  all.set(contextId, uploads);
  return uploads;
}
