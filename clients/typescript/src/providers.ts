/** Which identity provider a person signs in at: that of the address's domain, or one by its id; and where it leads back to. */
export type AtProvider = ({ email: string } | { provider: number }) & {
  /** The page of the platform to go to afterwards, as a path; by default the console. */
  return?: string | undefined;
  /** The company to sign in to; by default the one that the person has belonged to longest, of those that the provider serves. */
  customerId?: number | undefined;
  /** Whether the provider has to ask the person anew. */
  fresh?: boolean | undefined;
  /** Whether nobody is let in, and the page is told what the provider says: `trialOf` reads it. */
  try?: boolean | undefined;
};

/** The page that leads to an identity provider. */
export function providerPath(where: AtProvider): string {
  const given = Object.entries(where).filter(([, value]) => value !== undefined && value !== false);
  return `/auth/sso?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}

/** What a provider has said of who has tried it. */
export interface Trial {
  subject: string;
  email: string;
  emailVerified: boolean;
  name: string;
  /** The company has a claim to the address's domain, so that the address would lead to a user. */
  domainHolds: boolean;
}

/** Why a try has come to nothing: a code, such as `sso_refused`, and a sentence. */
export interface RefusedTrial {
  refused: string;
  detail: string;
}

/** What a try has come back with, in the fragment of the page's address; undefined where there is nothing. */
export function trialOf(hash: string): Trial | RefusedTrial | undefined {
  const found = /(?:^#?|&)trial=([\w-]+)/.exec(hash)?.[1];
  if (!found) return undefined;
  const bytes = Uint8Array.from(atob(found.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes)) as Trial | RefusedTrial;
}
