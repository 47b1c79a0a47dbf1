import { type Pages, usePages } from "../graph/pages";
import { Keys, type KeysResult } from "./keys.gql";

export type ApiKey = KeysResult["me"]["customer"]["apiKeys"]["nodes"][number];

/** The API keys of the caller's company. */
export function useKeys(): Pages<ApiKey> {
  return usePages(Keys, {}, ({ me }) => me.customer.apiKeys);
}
