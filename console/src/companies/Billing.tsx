import { Button, Skeleton, Stack, Text, TextInput } from "@mantine/core";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useAsk, useChange } from "../graph/hooks";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { Facts } from "../ui/Facts";
import { Foot } from "../ui/Foot";
import { Problem } from "../ui/Problem";
import { SidePanel } from "../ui/SidePanel";
import { Overtaken, useEdit } from "../ui/useEdit";
import { useNotices } from "../ui/useNotices";
import { Billing as Ask, type BillingResult, SaveBilling } from "./companies.gql";

type Record = NonNullable<NonNullable<BillingResult["customer"]>["billing"]>;

const fields = ["billingName", "businessId", "taxId", "addressLine1", "addressLine2", "zipCode", "city", "state", "countryCode"] as const;

/** Who is billed, and where. */
export function Billing() {
  const { text } = useText();
  const me = useMe();
  const { companyId } = useParams({ from: "/inside/companies/$companyId/billing" });
  const navigate = useNavigate();
  const { data, error, again } = useAsk(Ask, { id: companyId });
  const company = data?.customer;
  const billing = company?.billing;
  return (
    <SidePanel title={text.companies.billing} close={() => navigate({ to: "/companies/$companyId", params: { companyId }, search: true })}>
      <Stack>
        <Problem error={error} again={again} />
        {!company && !error && <Skeleton height={300} />}
        {company && <Text size="sm" c="dimmed">{text.companies.billingHint(company.name)}</Text>}
        {company && !billing && <Text size="sm" c="dimmed">{text.companies.billingNone}</Text>}
        {company && me.can("billing.write") && <Form key={company.id} customerId={company.id} billing={billing ?? null} />}
        {billing && !me.can("billing.write") && <Facts of={fields.map((name) => [text.companies[name], billing[name]])} />}
      </Stack>
    </SidePanel>
  );
}

function Form({ customerId, billing }: { customerId: string; billing: Record | null }) {
  const { text } = useText();
  const { say, offer } = useNotices();
  const save = useChange(SaveBilling);
  const edit = useEdit({
    now: Object.fromEntries(fields.map((name) => [name, billing?.[name] ?? ""])) as { [name in (typeof fields)[number]]: string },
    version: billing?.version ?? 0, // that of none
    save: async (form, was, ifVersion) => {
      const { saveBilling } = await save({ input: { customerId, ...form, ifVersion: ifVersion! } });
      if (ifVersion === 0) return say(text.ui.saved);
      offer(text.ui.saved, () => save({ input: { customerId, ...was, ifVersion: saveBilling!.billing.version } }));
    },
  });
  const { form, set: setForm, submit } = edit;
  return (
    <form onSubmit={submit.onSubmit}>
      <Stack>
        <Problem error={submit.rest(...fields)} />
        <Overtaken of={edit} labels={Object.fromEntries(fields.map((name) => [name, text.companies[name]]))} />
        {fields.map((name) => (
          <TextInput
            key={name} label={text.companies[name]} description={name === "countryCode" ? text.companies.countryHint : undefined} error={submit.fault(name)}
            value={form[name]} onChange={(event) => setForm({ ...form, [name]: event.currentTarget.value })}
          />
        ))}
        <Foot><Button type="submit" loading={submit.busy}>{text.ui.save}</Button></Foot>
      </Stack>
    </form>
  );
}
