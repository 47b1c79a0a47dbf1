// The platform that the tests run against, and the weather on the way to it.
import WebSocket from "ws";
import { ApiKey, Canopy, Session, type SessionOptions } from "../dist/index.js";

export const url = setting("URL");
export const person = { email: setting("EMAIL"), password: setting("PASSWORD") };
/** The companies that the person belongs to. */
export const own = Number(setting("CUSTOMER"));
export const other = Number(setting("OTHER_CUSTOMER"));

function setting(name: string): string {
  const value = process.env[`CANOPY_${name}`];
  if (value === undefined) throw new Error(`CANOPY_${name} is not set: make clients runs these tests`);
  return value;
}

export interface Weather {
  /** Tokens live so long, such as 3s. */
  life?: string;
  /** The next answer of this path is lost, after the platform has given it. */
  lost?: string;
  /** The next requests to this path don't get through. */
  refused?: string;
  times?: number;
  status?: number;
  /** Retry-After. */
  seconds?: number;
}

/** Sets the weather, and forgets how often anything was asked. */
export async function weather(to: Weather = {}): Promise<void> {
  const query = new URLSearchParams(Object.entries(to).map(([name, value]) => [name, String(value)]));
  await fetch(`${url}/weather/set?${query}`, { method: "POST" });
}

/** Cuts the WebSockets that are open. */
export async function cut(): Promise<void> {
  await fetch(`${url}/weather/cut`, { method: "POST" });
}

/** How often a path was asked since the weather was set. */
export async function asked(path: string): Promise<number> {
  return Number(await (await fetch(`${url}/weather/asked?path=${path}`)).text());
}

/** A program with an API key. */
export function program(application: "tenant" | "assistant" | "builder", clientSecret = setting("CLIENT_SECRET")): Canopy {
  return new Canopy(new ApiKey({ url, clientId: setting("CLIENT_ID"), clientSecret, application }), { webSocket: WebSocket });
}

/** A person's session in a program. */
export function login(options: Partial<SessionOptions> = {}): { session: Session; canopy: Canopy } {
  const session = new Session({ url, program: {}, ...options });
  return { session, canopy: new Canopy(session, { webSocket: WebSocket }) };
}
