import { Badge, Button, Group, NativeSelect, Stack, Text, Title } from "@mantine/core";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useAsk, useChange } from "../graph/hooks";
import { RightNames } from "../session/RightNames";
import { plainly } from "../session/lastOwner";
import { givenBy, useMe } from "../session/rights";
import { useText } from "../text";
import { applicationName } from "../text/applicationName";
import { Dialog } from "../ui/Dialog";
import { Problem } from "../ui/Problem";
import { useNotices } from "../ui/useNotices";
import { useSubmit } from "../ui/useSubmit";
import { type Permission, useRemoval } from "./useRemoval";
import { Grant, type PersonResult, ResendInvitation, Rights as Ask, SetGrantDisabled, TakeGrant } from "./people.gql";

type Person = NonNullable<PersonResult["user"]>;

/** What somebody may do, and which role on which account is why. */
export function Rights({ person }: { person: Person }) {
  const { text } = useText();
  const me = useMe();
  const { mailed, attempt } = useNotices();
  const { data, error, again } = useAsk(Ask, { id: person.id });
  const resend = useChange(ResendInvitation);
  const [removing, setRemoving] = useState(false);
  const permissions = data?.user?.permissions.nodes;
  // An owner is taken out of a company by an owner alone.
  const owned = new Set(permissions?.flatMap(({ role, account }) => (role.isOwner ? [account.customer.id] : [])));
  const removable = permissions ? person.customers.nodes.filter(({ id }) => me.owns || !owned.has(id)) : [];
  return (
    <Stack gap="sm" component="section" aria-label={text.people.mayDo}>
      <Title order={3} size="h5">{text.people.mayDo}</Title>
      <Text size="sm" c="dimmed">{permissions?.length === 0 ? text.people.nothing : text.people.mayDoHint}</Text>
      <Problem error={error} again={again} />
      {permissions?.map((permission) => <One key={permission.id} permission={permission} person={person} />)}
      <Group gap="xs">
        {me.can("permission.write") && <Button component={Link} to={`/people/${person.databaseId}/grant`} variant="default">{text.people.grant}</Button>}
        <Button component={Link} to={`/people/${person.databaseId}/preview`} variant="default">{text.people.asTheySee}</Button>
        {me.can("key.write") && me.owns && person.databaseId !== me.user.databaseId && person.customers.nodes.some(({ id }) => id === me.customer.id) && (
          <Button renderRoot={(props) => <Link to="/keys/new" search={{ user: person.databaseId }} {...props} />} variant="default">{text.people.makeKey}</Button>
        )}
        {me.can("user.write") && !person.hasPassword && (
          <Button variant="default" onClick={async () => (await attempt(() => resend({ input: { userId: person.id } }))) && mailed(text.people.resent)}>{text.people.resend}</Button>
        )}
        {me.can("user.write") && person.databaseId !== me.user.databaseId && removable.length > 0 && (
          <Button variant="default" c="var(--mantine-color-error)" onClick={() => setRemoving(true)}>{text.people.remove}</Button>
        )}
      </Group>
      {removing && <Remove person={person} companies={removable} had={permissions ?? []} close={() => setRemoving(false)} />}
    </Stack>
  );
}

function One({ permission: { id, disabled, role, application, account }, person }: { permission: Permission; person: Person }) {
  const { text } = useText();
  const me = useMe();
  const { say, offer, attempt } = useNotices();
  const give = useChange(Grant);
  const set = useChange(SetGrantDisabled);
  const take = useChange(TakeGrant);
  const given = givenBy(role.features, application.code);
  const why = text.people.because(role.name, applicationName(text, application), account.customer.name);
  const may = me.can("permission.write");
  const mine = me.owns || !role.isOwner;
  // What is turned on again is given again.
  const turns = !disabled || me.gives(role);
  const turn = async () => {
    const said = disabled ? text.people.turnedOn : text.people.turnedOff;
    if (await attempt(() => plainly(() => set({ input: { id, disabled: !disabled } }), text.people.lastOwner(account.customer.name)))) {
      if (disabled || me.gives(role)) offer(said(person.name || person.email, why), () => set({ input: { id, disabled } }));
      else say(said(person.name || person.email, why));
    }
  };
  const takeAway = async () => {
    if (!await attempt(() => plainly(() => take({ input: { id } }), text.people.lastOwner(account.customer.name)))) return;
    if (me.gives(role)) offer(text.people.taken, () => give({ input: { accountId: account.id, roleId: role.id, userId: person.id } }));
    else say(text.people.taken);
  };
  return (
    <Stack gap={4}>
      <Group gap="xs">
        <Text size="sm" fw={600}>{why}</Text>
        {disabled && <Badge variant="light" color="gray">{text.people.off}</Badge>}
      </Group>
      <details>
        <summary className="quiet"><Text span size="sm">{role.isOwner ? text.people.everything : text.people.rightsOf(given.length)}</Text></summary>
        <RightNames of={given} />
      </details>
      {may && !mine && <Text size="sm" c="dimmed">{text.people.ownersOnly}</Text>}
      {may && mine && (
        <Group gap="xs">
          {turns && (
            <Button size="compact-sm" variant="default" aria-label={`${disabled ? text.people.turnOn : text.people.turnOff}: ${why}`} onClick={() => void turn()}>
              {disabled ? text.people.turnOn : text.people.turnOff}
            </Button>
          )}
          <Button size="compact-sm" variant="default" aria-label={`${text.people.take}: ${why}`} onClick={() => void takeAway()}>{text.people.take}</Button>
        </Group>
      )}
    </Stack>
  );
}

/** Takes somebody out of a company: of several within reach, out of the one that is chosen. */
function Remove({ person, companies, had, close }: { person: Person; companies: Person["customers"]["nodes"]; had: readonly Permission[]; close: () => void }) {
  const { text } = useText();
  const { offer } = useNotices();
  const navigate = useNavigate();
  const me = useMe();
  const remove = useRemoval();
  const [id, choose] = useState((companies.find(({ id }) => id === me.customer.id) ?? companies[0]!).id);
  const company = companies.find((one) => one.id === id);
  const submit = useSubmit(async () => {
    const undo = await plainly(() => remove(person, company!.id, had.filter(({ account }) => account.customer.id === company!.id)), text.people.lastOwner(company!.name));
    // Who belongs to no other company in sight is not there any more.
    if (person.customers.nodes.length === 1) await navigate({ to: "/people", search: true });
    close();
    offer(text.people.removed(person.name || person.email, company!.name), undo);
  });
  return (
    <Dialog title={text.people.removeTitle(person.name || person.email)} close={close}>
      <form onSubmit={submit.onSubmit}>
        <Stack>
          {companies.length > 1 && (
            <NativeSelect
              label={text.people.removeFrom} value={id} data={companies.map(({ id, path }) => ({ value: id, label: path }))} data-autofocus
              onChange={({ currentTarget: { value } }) => choose(value)}
            />
          )}
          <Text size="sm">{text.people.removeHint(company!.path)}</Text>
          <Problem error={submit.error} />
          <Group>
            <Button type="submit" color="red.9" loading={submit.busy}>{text.people.remove}</Button>
            <Button variant="default" onClick={close}>{text.ui.cancel}</Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
