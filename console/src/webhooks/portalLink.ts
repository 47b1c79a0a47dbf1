import { session } from "../session/session";

export interface PortalLink {
  href: string;
  /** Until when it opens the portal. */
  until: Date;
}

/** Gets a token for an API key, as a server would, and makes the link to the portal of it. */
export async function portalLinkOf(clientId: string, clientSecret: string): Promise<PortalLink> {
  const { access_token: token, expires_in: seconds } = await session.http.send("/connect/token", {
    method: "POST",
    headers: { "Content-Type": "application/x-www-form-urlencoded" },
    body: String(new URLSearchParams({ grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret, target_app: "tenant" })),
    repeat: "always",
    read: (response) => response.json() as Promise<{ access_token: string; expires_in: number }>,
  });
  return { href: `${location.origin}/console/portal#token=${token}`, until: new Date(Date.now() + seconds * 1000) };
}
