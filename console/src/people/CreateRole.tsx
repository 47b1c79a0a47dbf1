import { Button, NativeSelect } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { useAsk, useChange } from "../graph/hooks";
import { useText } from "../text";
import { Problem } from "../ui/Problem";
import { SidePanel } from "../ui/SidePanel";
import { useNotices } from "../ui/useNotices";
import { CreateRole as Change, Roles } from "./people.gql";
import { RoleForm } from "./RoleForm";

/** Makes a role of the company's own, from nothing or from another one. */
export function CreateRole() {
  const { text } = useText();
  const { from } = useSearch({ from: "/inside/roles/new" });
  const navigate = useNavigate();
  const { say } = useNotices();
  const { data, error, again } = useAsk(Roles, {});
  const create = useChange(Change);
  const [chosen, setChosen] = useState<string>();
  // Who has gone elsewhere meanwhile stays there.
  const here = useRef(true);
  useEffect(() => {
    here.current = true;
    return () => void (here.current = false);
  }, []);
  const close = () => navigate({ to: "/roles" });
  const roles = data?.me.customer.roles ?? [];
  const model = roles.find(({ databaseId }) => databaseId === from);
  const applications = new Map(roles.map(({ application }) => [application.code, application]));
  const application = applications.get(chosen ?? model?.application.code ?? "tenant") ?? [...applications.values()][0];
  return (
    <SidePanel title={text.people.newRole} close={close}>
      <Problem error={error} again={again} />
      {application && (
        <RoleForm
          key={`${application.code} ${model?.id}`} application={application.code} button={text.people.createRole}
          values={{ name: "", description: "", features: model && model.application.code === application.code ? [...model.features] : [] }}
          save={async ({ name, description, features }) => {
            await create({ input: { applicationId: application.id, name, description, features } });
            say(text.people.roleCreated(name));
            if (here.current) await close();
          }}
          before={
            <NativeSelect
              label={text.people.grantAccount} value={application.code} onChange={({ currentTarget: { value } }) => setChosen(value)}
              data={[...applications.values()].map(({ code, name }) => ({ value: code, label: name }))}
            />
          }
          beside={<Button variant="default" onClick={close}>{text.ui.cancel}</Button>}
        />
      )}
    </SidePanel>
  );
}
