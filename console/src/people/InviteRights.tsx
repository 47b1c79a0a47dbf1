import { Fieldset, NativeSelect, Stack, Text } from "@mantine/core";
import "@mantine/core/styles/Fieldset.css";
import { useMemo } from "react";
import { useAsk } from "../graph/hooks";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { applicationName } from "../text/applicationName";
import { Problem } from "../ui/Problem";
import type { Gift } from "./invitation";
import { leastRole } from "./leastRole";
import { WhatToGrant } from "./people.gql";

export type Roles = Readonly<Record<string, string>>;

/** What can be given with an invitation into a company, and what is chosen of it: without a choice, the least in the first application. */
export function useGifts(customerId: number, chosen: Roles, pause: boolean) {
  const { text } = useText();
  const { data, error, again } = useAsk(WhatToGrant, { customerId: String(customerId) }, { pause });
  const me = useMe();
  return useMemo(() => {
    const { gives } = me;
    const customer = data?.customer;
    const offers = (customer?.accounts.nodes ?? []).filter(({ disabled }) => !disabled).map(({ id, application }, index) => {
      const fitting = customer!.roles.filter(({ applicationId }) => applicationId === application.databaseId);
      const roles = fitting.filter(gives);
      const role = roles.find((one) => one.id === (chosen[id] ?? (index === 0 ? leastRole(roles)?.id : "")));
      return { accountId: id, application: applicationName(text, application), roles, role, fewer: roles.length < fitting.length };
    });
    const gifts = offers.flatMap(({ accountId, application, role }): Gift[] => (role ? [{ accountId, roleId: role.id, name: `${role.name} · ${application}` }] : []));
    return { offers, gifts, known: data !== undefined, error, again };
  }, [data, error, again, chosen, text, me.grants]);
}

/** A role for each application of the company, or none. */
export function InviteRights({ of: { offers, gifts, known, error, again }, choose }: { of: ReturnType<typeof useGifts>; choose: (accountId: string, roleId: string) => void }) {
  const { text } = useText();
  if (!known) return <Problem error={error} again={again} />;
  return (
    <Fieldset legend={text.people.inviteRights}>
      <Stack gap="xs">
        {offers.map(({ accountId, application, roles, role }) => (
          <NativeSelect
            key={accountId} label={application} description={role?.description} value={role?.id ?? ""}
            data={[{ value: "", label: text.people.noRole }, ...roles.map(({ id, name }) => ({ value: id, label: name }))]}
            onChange={({ currentTarget: { value } }) => choose(accountId, value)}
          />
        ))}
        {offers.some(({ fewer }) => fewer) && <Text size="sm" c="dimmed">{text.people.rolesLeftOut}</Text>}
        <Text size="sm" c="dimmed">{gifts.length === 0 ? text.people.inviteNoRights : text.people.inviteRightsHint}</Text>
      </Stack>
    </Fieldset>
  );
}
