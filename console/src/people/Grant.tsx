import { Button, NativeSelect, Skeleton, Stack, Text } from "@mantine/core";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { useAsk, useChange } from "../graph/hooks";
import { RightNames } from "../session/RightNames";
import { givenBy, useMe } from "../session/rights";
import { useText } from "../text";
import { applicationName } from "../text/applicationName";
import { Foot } from "../ui/Foot";
import { Problem } from "../ui/Problem";
import { SidePanel } from "../ui/SidePanel";
import { useNotices } from "../ui/useNotices";
import { useSubmit } from "../ui/useSubmit";
import { leastRole } from "./leastRole";
import { Grant as Give, Person, type PersonResult, Rights, TakeGrant, WhatToGrant } from "./people.gql";

type One = NonNullable<PersonResult["user"]>;

/** Gives somebody a role on an account of one of their companies. */
export function Grant() {
  const { text } = useText();
  const { personId } = useParams({ from: "/inside/people/$personId/grant" });
  const navigate = useNavigate();
  const { data, error, again } = useAsk(Person, { id: personId });
  const user = data?.user;
  const close = () => navigate({ to: "/people/$personId", params: { personId }, search: true });
  return (
    <SidePanel title={user ? text.people.grantTitle(user.name || user.email) : text.people.grant} close={close}>
      <Problem error={error} again={again} />
      {user ? <Form user={user} close={close} /> : !error && <Skeleton height={200} />}
    </SidePanel>
  );
}

function Form({ user, close }: { user: One; close: () => Promise<void> }) {
  const { text } = useText();
  const me = useMe();
  const { offer } = useNotices();
  const give = useChange(Give);
  const take = useChange(TakeGrant);
  const companies = user.customers.nodes;
  const [chosen, setChosen] = useState({ company: companies[0]?.id ?? "", account: "", role: "" });
  const { data, error, again } = useAsk(WhatToGrant, { customerId: chosen.company }, { pause: chosen.company === "" });
  const { data: has } = useAsk(Rights, { id: user.id });
  // There is one permission at most for a person on an account.
  const taken = new Set(has?.user?.permissions.nodes.map(({ account }) => account.id));
  const accounts = data?.customer?.accounts.nodes.filter(({ id, disabled }) => !disabled && !taken.has(id)) ?? [];
  const account = accounts.find(({ id }) => id === chosen.account) ?? accounts[0];
  const fitting = data?.customer?.roles.filter(({ applicationId }) => applicationId === account?.application.databaseId) ?? [];
  const roles = fitting.filter(me.gives);
  const role = roles.find(({ id }) => id === chosen.role) ?? leastRole(roles);
  const submit = useSubmit(async () => {
    const { createPermission } = await give({ input: { accountId: account!.id, roleId: role!.id, userId: user.id } });
    const { id } = createPermission!.permission;
    offer(text.people.granted, () => take({ input: { id } }));
    await close();
  });
  return (
    <form onSubmit={submit.onSubmit}>
      <Stack>
        <Problem error={error ?? submit.error} again={error && again} />
        <NativeSelect
          label={text.people.grantCompany} value={chosen.company} data={companies.map(({ id, path }) => ({ value: id, label: path }))}
          onChange={(event) => setChosen({ company: event.currentTarget.value, account: "", role: "" })}
        />
        {data && has && !account && <Text size="sm" c="dimmed">{text.people.noAccount}</Text>}
        {account && (
          <>
            <NativeSelect
              label={text.people.grantAccount} value={account.id} data={accounts.map(({ id, application }) => ({ value: id, label: applicationName(text, application) }))}
              onChange={(event) => setChosen({ ...chosen, account: event.currentTarget.value, role: "" })}
            />
            <NativeSelect
              label={text.people.grantRole} description={role?.description} value={role?.id ?? ""} data={roles.map(({ id, name }) => ({ value: id, label: name }))}
              onChange={(event) => setChosen({ ...chosen, role: event.currentTarget.value })}
            />
            {roles.length < fitting.length && <Text size="sm" c="dimmed">{text.people.rolesLeftOut}</Text>}
            {role && <><Text size="sm" c="dimmed">{text.people.grantAllows}</Text><RightNames of={givenBy(role.features, account.application.code)} /></>}
          </>
        )}
        <Foot>
          <Button type="submit" disabled={!role} loading={submit.busy}>{text.people.grant}</Button>
          <Button variant="default" onClick={close}>{text.ui.cancel}</Button>
        </Foot>
      </Stack>
    </form>
  );
}
