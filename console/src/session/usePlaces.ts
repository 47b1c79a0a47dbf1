import { type Asked, useAsk } from "../graph/hooks";
import { useMe } from "./rights";
import { Places, type PlacesResult } from "./session.gql";

export type Membership = PlacesResult["me"]["user"]["customers"]["nodes"][number];

/** Those of the companies that the person belongs to which are within reach: none for who may not see whose people they have. Those that one can act for are `session.companies`. */
export function usePlaces(): Omit<Asked<PlacesResult>, "data"> & { places: readonly Membership[] | undefined } {
  const { can } = useMe();
  const may = can("user.read") && can("company.read");
  const { data, ...asked } = useAsk(Places, {}, { pause: !may });
  return { ...asked, places: may ? data?.me.user.customers.nodes : none };
}

const none: readonly Membership[] = [];
