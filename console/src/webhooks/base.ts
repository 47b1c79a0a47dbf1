import { createContext, useContext } from "react";

/** Where the screens of webhooks are: in the console, or in the portal. */
export type Base = "/webhooks" | "/portal";

export const BaseContext = createContext<Base>("/webhooks");

export function useBase(): Base {
  return useContext(BaseContext);
}
