import type { Text } from "../text";

/** The parts of one's own account that have a name: each has an address, and is found by that name. */
export const sections = [
  { id: "name", label: ({ session }: Text) => session.changeName },
  { id: "sessions", label: ({ session }: Text) => session.sessions },
  { id: "passkeys", label: ({ session }: Text) => session.passkeys },
  { id: "two-factor", label: ({ session }: Text) => session.twoFactor },
  { id: "password", label: ({ session }: Text) => session.changePassword },
  { id: "address", label: ({ session }: Text) => session.changeEmail },
  { id: "companies", label: ({ session }: Text) => session.companies },
  { id: "erase", label: ({ session }: Text) => session.erase },
] as const;

export type Section = (typeof sections)[number]["id"];
