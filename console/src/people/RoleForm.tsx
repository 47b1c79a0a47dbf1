import { Button, Checkbox, Fieldset, Stack, TextInput } from "@mantine/core";
import "@mantine/core/styles/Fieldset.css";
import { type ReactNode, useState } from "react";
import { RightName } from "../session/RightNames";
import { rightsIn, useMe } from "../session/rights";
import { useText } from "../text";
import { Foot } from "../ui/Foot";
import { Problem } from "../ui/Problem";
import { useSubmit } from "../ui/useSubmit";

export interface RoleValues {
  name: string;
  description: string;
  features: string[];
}

export interface RoleFormProps {
  /** Code of the application that the role is for. */
  application: string;
  values: RoleValues;
  button: string;
  save: (values: RoleValues) => Promise<void>;
  /** What goes before the fields, and beside the button. */
  before?: ReactNode;
  beside?: ReactNode;
}

/** What a role is called, and what it allows. What the caller may not do, they can't give. */
export function RoleForm({ application, values, button, save, before, beside }: RoleFormProps) {
  const { text } = useText();
  const me = useMe();
  const own = me.grants.find(({ application }) => application === "tenant")?.features ?? [];
  const [form, setForm] = useState(values);
  // What the role has and would not give, as it does not count there, stays.
  const rights = [...new Set([...rightsIn(application), ...values.features])];
  const submit = useSubmit(() => save(form));
  return (
    <form onSubmit={submit.onSubmit}>
      <Stack>
        <Problem error={submit.rest("name", "description")} />
        {before}
        <TextInput label={text.people.roleName} required withAsterisk={false} error={submit.fault("name")} value={form.name} onChange={(event) => setForm({ ...form, name: event.currentTarget.value })} />
        <TextInput label={text.people.roleFor} error={submit.fault("description")} value={form.description} onChange={(event) => setForm({ ...form, description: event.currentTarget.value })} />
        <Fieldset legend={text.people.roleAllows}>
          <Checkbox.Group description={text.people.roleAllowsHint} value={form.features} onChange={(features) => setForm({ ...form, features })} aria-label={text.people.roleAllows}>
            <Stack gap={6} mt="xs">
              {rights.map((right) => <Checkbox key={right} size="xs" value={right} label={<RightName of={right} />} disabled={!own.includes(right) && !form.features.includes(right)} />)}
            </Stack>
          </Checkbox.Group>
        </Fieldset>
        <Foot>
          <Button type="submit" loading={submit.busy}>{button}</Button>
          {beside}
        </Foot>
      </Stack>
    </form>
  );
}
