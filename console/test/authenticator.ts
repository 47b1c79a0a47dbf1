// A device of a person's that keeps passkeys, in the browser.
import type { Page } from "playwright-core";

/** What a device has of a passkey. */
export interface Kept {
  credentialId: string;
  isResidentCredential: boolean;
  rpId: string;
  privateKey: string;
  userHandle: string;
  signCount: number;
}

/** Gives a tab a device whose person is there and gives its finger. `keep` gives the passkeys that are on it, and `put` puts one there. */
export async function device(page: Page): Promise<{ kept: () => Promise<Kept[]>; put: (credential: Kept) => Promise<void>; away: (is: boolean) => Promise<void> }> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("WebAuthn.enable");
  const { authenticatorId } = await cdp.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2", ctap2Version: "ctap2_1", transport: "internal", hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true,
      defaultBackupEligibility: true, defaultBackupState: true,
    },
  });
  return {
    kept: async () => (await cdp.send("WebAuthn.getCredentials", { authenticatorId })).credentials as Kept[],
    put: async (credential) => void (await cdp.send("WebAuthn.addCredential", { authenticatorId, credential })),
    away: async (is) => void (await cdp.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: !is })),
  };
}
