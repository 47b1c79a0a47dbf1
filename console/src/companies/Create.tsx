import { Button, Checkbox, Fieldset, Group, NativeSelect, Skeleton, Stack, Switch, Text, TextInput } from "@mantine/core";
import "@mantine/core/styles/Fieldset.css";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { useAsk, useChange } from "../graph/hooks";
import { useText } from "../text";
import { Foot } from "../ui/Foot";
import { Problem } from "../ui/Problem";
import { SidePanel } from "../ui/SidePanel";
import { useNotices } from "../ui/useNotices";
import { useSubmit } from "../ui/useSubmit";
import { CreateCompany, Regions, Room, type RoomResult } from "./companies.gql";
import { forbidding, near, stock } from "./place";

type Below = NonNullable<RoomResult["customer"]>;

const empty = {
  name: "", regionId: "", email: "", firstName: "", lastName: "", canAddCustomers: false, descendantsCanAdd: false, tenant: true, assistant: true, builder: true,
};

/** Creates a company below another. */
export function Create() {
  const { text } = useText();
  const { companyId } = useParams({ from: "/inside/companies/$companyId/new" });
  const navigate = useNavigate();
  const [form, setForm] = useState(empty);
  const { data: regions, error: noRegions, again } = useAsk(Regions, {});
  const { data: room, error: noRoom } = useAsk(Room, { id: companyId });
  // Until both are there a company has no region, and what comes moves the button away from who presses it.
  const ready = regions !== undefined && (room !== undefined || noRoom !== undefined);
  const forbids = room?.customer && forbidding(room.customer);
  const create = useChange(CreateCompany);
  const close = () => navigate({ to: "/companies/$companyId", params: { companyId }, search: true });
  const regionId = form.regionId || regions?.regions[0]?.id || "";
  const { mailed } = useNotices();
  const submit = useSubmit(async () => {
    const { createCustomer } = await create({
      input: { ...form, regionId, parentId: companyId, firstName: form.firstName || null },
    });
    const { name, databaseId } = createCustomer!.customer;
    mailed(text.companies.created(name));
    await navigate({ to: "/companies/$companyId", params: { companyId: String(databaseId) } });
  });
  const field = (name: "name" | "email" | "firstName" | "lastName") => ({
    value: form[name], error: submit.fault(name), withAsterisk: false,
    onChange: ({ currentTarget: { value } }: { currentTarget: HTMLInputElement }) => setForm({ ...form, [name]: value }),
  });
  const flag = (name: "canAddCustomers" | "descendantsCanAdd" | "tenant" | "assistant" | "builder") => ({
    checked: form[name],
    onChange: ({ currentTarget: { checked } }: { currentTarget: HTMLInputElement }) => setForm({ ...form, [name]: checked }),
  });
  if (room?.customer?.effectiveStatus === "DELETED") {
    return <SidePanel title={text.companies.create} close={close}><Text size="sm">{text.companies.noneBelowDeleted(room.customer.name)}</Text></SidePanel>;
  }
  return (
    <SidePanel title={text.companies.create} close={close}>
      <form onSubmit={submit.onSubmit} noValidate>
        <Stack>
          {ready ? room?.customer && <Below room={room.customer} /> : <Skeleton height={41} />}
          <Problem error={noRegions ?? submit.rest("name", "regionId", "email", "firstName", "lastName")} again={noRegions && again} />
          <TextInput label={text.companies.name} required data-autofocus {...field("name")} />
          <NativeSelect
            label={text.companies.region} description={text.companies.regionHint} value={regionId} error={submit.fault("regionId")}
            data={(regions?.regions ?? []).map(({ id, name }) => ({ value: id, label: name }))}
            onChange={(event) => setForm({ ...form, regionId: event.currentTarget.value })}
          />
          <TextInput label={text.companies.adminEmail} description={text.companies.adminEmailHint} type="email" required {...field("email")} />
          <Group grow align="start">
            <TextInput label={text.companies.firstName} description={text.ui.optional} {...field("firstName")} />
            <TextInput label={text.companies.lastName} description={text.ui.optional} {...field("lastName")} />
          </Group>
          <Fieldset legend={text.companies.applications}>
            <Stack gap="xs">
              <Checkbox label={text.companies.tenant} description={text.companies.tenantHint} {...flag("tenant")} />
              <Checkbox label={text.companies.assistant} description={text.companies.assistantHint} {...flag("assistant")} />
              <Checkbox label={text.companies.builder} description={text.companies.builderHint} {...flag("builder")} />
            </Stack>
          </Fieldset>
          <Switch
            label={text.companies.canAdd} {...flag("canAddCustomers")}
            description={form.canAddCustomers && forbids ? text.companies.canAddForbidden(forbids.name) : text.companies.canAddHint}
          />
          <Switch label={text.companies.below} description={text.companies.belowHint} {...flag("descendantsCanAdd")} />
          <Foot>
            <Button type="submit" loading={submit.busy} disabled={!ready}>{text.companies.createButton}</Button>
            <Button variant="default" onClick={close}>{text.ui.cancel}</Button>
          </Foot>
        </Stack>
      </form>
    </SidePanel>
  );
}

/** Where it will be, and what it counts against: what there is of what may be. The limits of others, while they are far, are there for those who look. */
function Below({ room: { name, usage } }: { room: Below }) {
  const { text } = useText();
  const bounded = usage?.flatMap((one) => (one.limit !== null && stock(one.name) ? [{ ...one, limit: one.limit }] : [])) ?? [];
  const tight = bounded.filter(({ used, limit, own }) => limit === own || used >= limit * near);
  const far = bounded.filter((one) => !tight.includes(one));
  return (
    <Stack gap={4}>
      <Text size="sm" c="dimmed">{text.companies.createBelow(name)} {usage && (bounded.length === 0 ? text.companies.noLimits(name) : text.companies.limitsHint(name))}</Text>
      {tight.length > 0 && <Bounds of={tight} label={text.companies.usage} />}
      {far.length > 0 && (
        <details>
          <summary className="quiet"><Text span size="sm">{tight.length > 0 ? text.companies.otherLimits : text.companies.usage}</Text></summary>
          <Bounds of={far} label={text.companies.otherLimits} />
        </details>
      )}
    </Stack>
  );
}

function Bounds({ of, label }: { of: readonly (NonNullable<Below["usage"]>[number] & { limit: number })[]; label: string }) {
  const { text, format } = useText();
  return (
    <ul aria-label={label} style={{ margin: 0, paddingInlineStart: "1.1rem", fontSize: "var(--mantine-font-size-sm)" }}>
      {of.map(({ name, used, limit }) => {
        const write = name === "STORAGE_BYTES" ? format.bytes : format.number;
        return <li key={name}>{text.companies.limits[name]}: {text.companies.used(write(used), write(limit))}{used >= limit && `, ${text.companies.full}`}</li>;
      })}
    </ul>
  );
}
