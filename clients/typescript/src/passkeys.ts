/** What an authenticator is asked with: what `beginPasskey` gives of a new passkey, or `POST /auth/passkey` of any that there is. */
export interface PasskeyQuestion {
  state: string;
  options: unknown;
}

/** An authenticator's answer, as the platform takes it: good once, for a few minutes. */
export interface PasskeyAnswer {
  state: string;
  credential: unknown;
}

/** Tells whether this browser knows passkeys. */
export function knowsPasskeys(): boolean {
  return typeof PublicKeyCredential !== "undefined" && "parseRequestOptionsFromJSON" in PublicKeyCredential;
}

/** Has the browser make a passkey; the answer goes to `createPasskey`. Throws what the browser throws: `NotAllowedError` of who has given up, `InvalidStateError` where the device has one already. */
export async function makePasskey({ state, options }: PasskeyQuestion, signal?: AbortSignal): Promise<PasskeyAnswer> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options as PublicKeyCredentialCreationOptionsJSON);
  return answer(state, await navigator.credentials.create({ publicKey, ...(signal && { signal }) }));
}

/** Has the browser ask for one of the person's passkeys. Throws what the browser throws. */
export async function usePasskey({ state, options }: PasskeyQuestion, signal?: AbortSignal): Promise<PasskeyAnswer> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options as PublicKeyCredentialRequestOptionsJSON);
  return answer(state, await navigator.credentials.get({ publicKey, ...(signal && { signal }) }));
}

function answer(state: string, credential: Credential | null): PasskeyAnswer {
  return { state, credential: (credential as PublicKeyCredential).toJSON() };
}
