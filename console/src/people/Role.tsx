import { Button, Group, Skeleton, Stack, Text } from "@mantine/core";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { useAsk, useChange } from "../graph/hooks";
import { RightNames } from "../session/RightNames";
import { givenBy, useMe } from "../session/rights";
import { useText } from "../text";
import { applicationName } from "../text/applicationName";
import { Confirm } from "../ui/Confirm";
import { Empty } from "../ui/Empty";
import { Facts } from "../ui/Facts";
import { Problem } from "../ui/Problem";
import { SidePanel } from "../ui/SidePanel";
import { useNotices } from "../ui/useNotices";
import { CreateRole, DeleteRole, Roles, type RolesResult, UpdateRole } from "./people.gql";
import { RoleForm } from "./RoleForm";

type Known = RolesResult["me"]["customer"]["roles"][number];

/** One role: to be changed where it is the company's own, else to be read and copied. */
export function Role() {
  const { text } = useText();
  const me = useMe();
  const { roleId } = useParams({ from: "/inside/roles/$roleId" });
  const navigate = useNavigate();
  const { data, error, again } = useAsk(Roles, {});
  const role = data?.me.customer.roles.find(({ databaseId }) => String(databaseId) === roleId);
  const close = () => navigate({ to: "/roles" });
  const own = role?.customerId === me.customer.databaseId && me.can("permission.write") && (me.owns || !role.isOwner);
  return (
    <SidePanel key={roleId} title={role?.name ?? text.people.role} close={close}>
      <Stack>
        <Problem error={error} again={again} />
        {!data && !error && <Skeleton height={200} />}
        {data && !role && <Empty title={text.people.roleGone} />}
        {role && (own ? <Change key={role.id} role={role} again={again} close={close} /> : <Shown role={role} />)}
      </Stack>
    </SidePanel>
  );
}

function Copy({ role }: { role: Known }) {
  const { text } = useText();
  const me = useMe();
  if (!me.can("permission.write")) return null;
  return <Button component={Link} to={`/roles/new?from=${role.databaseId}`} variant="default">{text.people.copyRole}</Button>;
}

function Shown({ role }: { role: Known }) {
  const { text } = useText();
  return (
    <>
      <Facts of={[
        [text.people.grantAccount, applicationName(text, role.application)],
        [text.people.roleFor, role.description],
        [text.people.roleOf, role.customerId === null ? text.people.everyCompany : text.people.otherCompany],
      ]} />
      <Text size="sm" fw={600}>{text.people.roleAllows}</Text>
      <RightNames of={givenBy(role.features, role.application.code)} label={text.people.roleAllows} />
      <Group><Copy role={role} /></Group>
    </>
  );
}

function Change({ role, again, close }: { role: Known; again: () => void; close: () => void }) {
  const { text } = useText();
  const { offer } = useNotices();
  const create = useChange(CreateRole);
  const update = useChange(UpdateRole);
  const remove = useChange(DeleteRole);
  const [deleting, setDeleting] = useState(false);
  // Whoever began to change it changes what they saw: what somebody else did meanwhile is not lost unseen.
  const [seen, setSeen] = useState(role);
  const was = { name: seen.name, description: seen.description, features: [...seen.features] };
  const save = async (values: typeof was, ifVersion: number) => {
    const { updateRole } = await update({ input: { id: seen.id, ifVersion, ...values } });
    setSeen({ ...seen, ...updateRole!.role });
    return updateRole!.role.version;
  };
  return (
    <>
      {seen.version !== role.version && (
        <Group role="status"><Text size="sm">{text.people.roleChanged}</Text><Button size="xs" variant="default" onClick={() => setSeen(role)}>{text.people.showChanged}</Button></Group>
      )}
      <RoleForm
        key={seen.version} application={seen.application.code} button={text.ui.save}
        values={was}
        save={async (values) => {
          try {
            const version = await save(values, seen.version);
            offer(text.ui.saved, () => save(was, version));
          } catch (why) {
            again();
            throw why;
          }
        }}
        beside={<Button variant="default" c="var(--mantine-color-error)" onClick={() => setDeleting(true)}>{text.people.deleteRole}</Button>}
      />
      <Group><Copy role={role} /></Group>
      {deleting && (
        <Confirm
          title={text.people.deleteRoleTitle(seen.name)} button={text.people.deleteRole} close={() => setDeleting(false)}
          work={async () => {
            await remove({ input: { id: seen.id } });
            offer(text.people.roleDeleted(seen.name), () => create({ input: { applicationId: seen.application.id, ...was } }));
            close();
          }}
        >
          <Text size="sm">{text.people.deleteRoleHint}</Text>
        </Confirm>
      )}
    </>
  );
}
