import { Button, Stack, Switch, TextInput, Title } from "@mantine/core";
import { useChange } from "../graph/hooks";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { Foot } from "../ui/Foot";
import { Problem } from "../ui/Problem";
import { Overtaken, useEdit } from "../ui/useEdit";
import { useNotices } from "../ui/useNotices";
import { UpdateCompany } from "./companies.gql";
import type { Whole } from "./company";

/** What can be changed of a company, with what each flag does. */
export function Settings({ company }: { company: Whole }) {
  const { text } = useText();
  const me = useMe();
  const update = useChange(UpdateCompany);
  const { name, canAddCustomers, descendantsCanAdd } = company;
  // Both are turned on from above alone; the root has nobody above.
  const fromAbove = company.id === me.customer.id && company.level > 0;
  const { offer } = useNotices();
  const edit = useEdit({
    now: { name, canAddCustomers, descendantsCanAdd }, version: company.version,
    save: async (form, was, ifVersion) => {
      const { updateCustomer } = await update({ input: { customerId: company.id, ...form, ifVersion: ifVersion! } });
      offer(text.ui.saved, () => update({ input: { customerId: company.id, ...was, ifVersion: updateCustomer!.customer.version } }));
    },
  });
  const { form, set: setForm, submit } = edit;
  return (
    <form onSubmit={submit.onSubmit}>
      <Stack>
        <Title order={3} size="h5">{text.companies.settings}</Title>
        <Problem error={submit.rest("name")} />
        <Overtaken of={edit} labels={{ name: text.companies.name, canAddCustomers: text.companies.canAdd, descendantsCanAdd: text.companies.below }} />
        <TextInput label={text.companies.name} required withAsterisk={false} error={submit.fault("name")} value={form.name} onChange={(event) => setForm({ ...form, name: event.currentTarget.value })} />
        <Switch
          label={text.companies.canAdd}
          description={form.canAddCustomers && company.canAddCustomers && !company.effectiveCanAddCustomers ? text.companies.notEffective : fromAbove && !canAddCustomers ? text.companies.fromAbove : text.companies.canAddHint}
          disabled={fromAbove && !canAddCustomers}
          checked={form.canAddCustomers} onChange={(event) => setForm({ ...form, canAddCustomers: event.currentTarget.checked })}
        />
        <Switch
          label={text.companies.below} description={fromAbove && !descendantsCanAdd ? text.companies.fromAbove : text.companies.belowHint} disabled={fromAbove && !descendantsCanAdd}
          checked={form.descendantsCanAdd} onChange={(event) => setForm({ ...form, descendantsCanAdd: event.currentTarget.checked })}
        />
        <Foot><Button type="submit" loading={submit.busy} disabled={!edit.dirty}>{text.ui.save}</Button></Foot>
      </Stack>
    </form>
  );
}
