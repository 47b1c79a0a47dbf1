import { useMe } from "../session/rights";

/** Tells whether the caller is an owner, who alone deals with the keys of others. */
export function useOwns(): boolean {
  return useMe().grants.some(({ application, isOwner }) => application === "tenant" && isOwner);
}
