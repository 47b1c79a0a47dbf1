import { CanopyError } from "canopy-client";
import { useChange } from "../graph/hooks";
import { GrantAll, InvitePeople, type PersonResult, RemovePerson, type RightsResult } from "./people.gql";

type Person = NonNullable<PersonResult["user"]>;
export type Permission = NonNullable<RightsResult["user"]>["permissions"]["nodes"][number];

/**
 * Takes somebody out of a company, and gives what takes that back: it adds the person again, with the permissions of before. By the address, as
 * who belongs to no other company in sight is unknown then.
 */
export function useRemoval(): (person: Person, customerId: string, had: readonly Permission[]) => Promise<() => Promise<void>> {
  const remove = useChange(RemovePerson);
  const invite = useChange(InvitePeople);
  const grantAll = useChange(GrantAll);
  return async (person, customerId, had) => {
    await remove({ input: { customerId, userId: person.id } });
    const { email, firstName, lastName } = person;
    return async () => {
      const { createUsers } = await invite({ input: { customerId, users: [{ email, firstName, lastName }] } });
      refused(createUsers!.results);
      if (had.length === 0) return;
      const { createPermissions } = await grantAll({ input: { permissions: had.map(({ account, role, disabled }) => ({ accountId: account.id, roleId: role.id, email, disabled })) } });
      refused(createPermissions!.results);
    };
  };
}

/** Throws why one of several things was not done. */
function refused(results: readonly { error: { message: string } | null }[]): void {
  const error = results.find(({ error }) => error)?.error;
  if (error) throw new CanopyError("BAD_REQUEST", error.message);
}
