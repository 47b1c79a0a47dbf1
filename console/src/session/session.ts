import { Canopy, CanopyError, Session } from "canopy-client";

// Whether it is worth while to ask for a session: who never signed in here need not be refused first.
const hint = "canopy-signed-in";

// When somebody has signed out in this browser: all tabs hear of it, and leave what they show.
const signedOut = "canopy-signed-out";

/** Who is signed in: a person in a company, nobody, or nobody any more. */
export type Signed = { state: "in"; customerId: number } | { state: "out" } | { state: "ended" };

let signed: Signed = { state: "out" };
const listeners = new Set<() => void>();

function become(next: Signed): void {
  signed = next;
  if (next.state === "in") localStorage.setItem(hint, "1");
  else localStorage.removeItem(hint);
  listeners.forEach((tell) => tell());
}

/** The person's session. What renews it is in a cookie that no script can read. */
export const session = new Session({
  url: location.origin, retries: 2, longestWait: 5,
  onEnd: ({ reason }) => {
    if (reason === "somebody_else") localStorage.setItem(hint, "1"); // who is signed in, on other pages
  },
});

/** The platform, as the person who is signed in sees it. */
export const canopy = new Canopy(session);

// Until when an end of the session is what the person here has asked for, in ms. What is asked for may never be answered.
let leavingUntil = 0;
const longestLeaving = 60_000;
const leaves = () => void (leavingUntil = Date.now() + longestLeaving);
const stays = () => void (leavingUntil = 0);

session.watch((change) => {
  if (change === "ended") become({ state: Date.now() < leavingUntil ? "out" : "ended" });
  else become({ state: "in", customerId: session.customerId! });
});

addEventListener("storage", ({ key, newValue }) => {
  if (key !== signedOut || newValue === null || signed.state === "out") return;
  leaves();
  void session.forget().finally(stays);
});

/**
 * Ends the session: in this browser in any case, and on the platform where that can be reached. Who has come from an identity provider signs out there,
 * too.
 */
export async function signOut(): Promise<void> {
  leaves();
  localStorage.setItem(signedOut, new Date().toISOString());
  const there = await session.signOut().catch(() => undefined).finally(stays);
  if (there) location.assign(there);
}

/**
 * Makes a change that ends the session on the platform, too, such as leaving the company. The end may be heard of before the change is answered: whoever made it has
 * signed out, and was not ended elsewhere.
 */
export async function signOutBy(change: () => Promise<void>): Promise<void> {
  leaves();
  await change().catch((error: unknown) => {
    stays();
    throw error;
  });
  await signOut();
}

/** Which way in an address has. An identity provider is gone to, and leads back to the sign-in, and from there to where one wanted to go; why tells why that can't be. */
export async function wayIn(email: string, to: string | undefined, how: { fresh?: boolean } = {}): Promise<{ way: "provider" | "password"; why?: string }> {
  const back = `/console/sign-in?${new URLSearchParams({ sso: "in", ...(to && { to }) })}`;
  try {
    return { way: await session.wayIn({ email, return: back, ...how }) };
  } catch (error) {
    return { way: "password", why: (error instanceof CanopyError && error.reason) || "sso_away" };
  }
}

/** Tells whether a session has come of a sign-in at an identity provider. */
export async function arrived(): Promise<boolean> {
  const open = await session.arrived();
  if (open) become({ state: "in", customerId: session.customerId! });
  return open;
}

/**
 * Goes on in a company with a session that was begun in another tab, where it is of the one who was here before; tells whether it is.
 * Somebody else begins at the first page.
 */
export async function goOn(customerId: number): Promise<boolean> {
  try {
    await session.token();
  } catch (error) {
    if (!(error instanceof CanopyError) || error.code !== "UNAUTHENTICATED") throw error;
    if (error.reason === "somebody_else") location.assign("/console/");
    return false;
  }
  if (session.customerId !== customerId) await session.switchTo(customerId);
  become({ state: "in", customerId });
  return true;
}

let resumed: Promise<void> | undefined;

/** Tells whether somebody is signed in, after a look for a session that is open already; or why that one does not open, such as customer_suspended. */
export async function signedIn(): Promise<boolean | string> {
  if (signed.state === "out" && localStorage.getItem(hint)) {
    resumed ??= session.resume().then((open) => {
      become(open ? { state: "in", customerId: session.customerId! } : { state: "ended" });
    }).finally(() => (resumed = undefined));
    try {
      await resumed;
    } catch (error) {
      // The company is closed to everybody: who belongs to another one signs in there.
      if (!(error instanceof CanopyError) || error.code !== "FORBIDDEN") throw error;
      become({ state: "ended" });
      return error.reason ?? "ended";
    }
  }
  return signed.state === "in";
}

export function currentSigned(): Signed {
  return signed;
}

export function watchSigned(tell: () => void): () => void {
  listeners.add(tell);
  return () => listeners.delete(tell);
}
