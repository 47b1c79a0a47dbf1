/** What the page's policy lets style elements in by, which the platform makes anew for each answer. */
export const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.nonce ?? "";
