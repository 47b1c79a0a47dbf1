import { Button, Group, NumberInput, Progress, Skeleton, Stack, Text } from "@mantine/core";
import "@mantine/core/styles/NumberInput.css";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { useAsk, useChange } from "../graph/hooks";
import { useMe } from "../session/rights";
import { type Text as Words, useText } from "../text";
import type { Format } from "../text/format";
import { Foot } from "../ui/Foot";
import { Problem } from "../ui/Problem";
import { SidePanel } from "../ui/SidePanel";
import { useNotices } from "../ui/useNotices";
import { useSubmit } from "../ui/useSubmit";
import { SetLimits, Usage as Ask, type UsageResult } from "./companies.gql";
import { near } from "./place";

type Whole = NonNullable<UsageResult["customer"]>;
type One = NonNullable<Whole["usage"]>[number];

/** What a company has against what it may have, in bars that say why. */
export function Usage() {
  const { text } = useText();
  const me = useMe();
  const { companyId } = useParams({ from: "/inside/companies/$companyId/usage" });
  const navigate = useNavigate();
  const { data, error, again } = useAsk(Ask, { id: companyId });
  const [changing, setChanging] = useState(false);
  const company = data?.customer;
  const usage = company?.usage;
  const mayChange = me.can("company.write") && (String(me.customer.databaseId) !== companyId || me.customer.level === 0);
  return (
    <SidePanel title={text.companies.usage} close={() => navigate({ to: "/companies/$companyId", params: { companyId }, search: true })}>
      <Stack>
        <Problem error={error} again={again} />
        {!company && !error && <Skeleton height={300} />}
        {company && <Text size="sm" c="dimmed">{text.companies.usageHint(company.name)}</Text>}
        {usage && changing && <Limits company={company} usage={usage} close={() => setChanging(false)} />}
        {usage && !changing && (
          <>
            {usage.map((one) => <Bar key={one.name} one={one} company={company} />)}
            {mayChange && <Button w="fit-content" variant="default" onClick={() => setChanging(true)}>{text.companies.changeLimits}</Button>}
          </>
        )}
      </Stack>
    </SidePanel>
  );
}

function Bar({ one: { name, used, limit, own, limitedBy }, company }: { one: One; company: Whole }) {
  const { text, format } = useText();
  const write = writer(format, name);
  const label = text.companies.limits[name];
  const part = limit === null ? 0 : limit === 0 ? 1 : used / limit;
  const word = limit === null ? undefined : part >= 1 ? text.companies.full : part >= near ? text.companies.nearlyFull : undefined;
  return (
    <div>
      <Group justify="space-between" gap="xs">
        <Text size="sm">{label}</Text>
        <Text size="sm">{limit === null ? write(used) : text.companies.used(write(used), write(limit))}{word && `, ${word}`}</Text>
      </Group>
      {limit !== null && (
        <Progress.Root size="md">
          <Progress.Section value={Math.min(100, part * 100)} color={part >= 1 ? "red.9" : part >= near ? "yellow.8" : "canopy"} aria-label={label} />
        </Progress.Root>
      )}
      <Text size="xs" c="dimmed">
        {limit === null ? text.companies.noLimit : limit === own ? text.companies.limitOf(company.name) : whose(text, company, limitedBy)}
      </Text>
    </div>
  );
}

function writer(format: Format, name: One["name"]): (value: number) => string {
  return name === "STORAGE_BYTES" ? format.bytes : format.number;
}

/** Whose limit it is. What a company has without a limit of its own is the platform's default. */
function whose(text: Words, company: Pick<Whole, "id">, by: One["limitedBy"]): string {
  if (by?.id === company.id) return text.companies.limitBy.default;
  return by ? text.companies.limitOf(by.name) : text.companies.limitAbove;
}

/** The company's own limits; those of the companies above bind beside them. */
function Limits({ company, usage, close }: { company: Whole; usage: readonly One[]; close: () => void }) {
  const { text, format } = useText();
  const { offer } = useNotices();
  const set = useChange(SetLimits);
  const own = Object.fromEntries(usage.map(({ name, own }) => [name, own])) as Record<One["name"], number | null>;
  const [form, setForm] = useState(own);
  const changed = usage.map(({ name }) => name).filter((name) => form[name] !== own[name]);
  const submit = useSubmit(async () => {
    const limitsOf = (from: typeof own) => ({ input: { customerId: company.id, limits: changed.map((name) => ({ name, limit: from[name] })) } });
    await set(limitsOf(form));
    offer(text.ui.saved, () => set(limitsOf(own)));
    close();
  });
  return (
    <form onSubmit={submit.onSubmit}>
      <Stack>
        <Problem error={submit.error} />
        {usage.map(({ name, limit, limitedBy, own: mine }) => (
          <NumberInput
            key={name} label={text.companies.limits[name]} placeholder={text.companies.limitEmpty} min={0} allowDecimal={false} hideControls thousandSeparator=" "
            description={limit !== null && limit !== mine ? text.companies.limitTighter(writer(format, name)(limit), whose(text, company, limitedBy)) : undefined}
            value={form[name] ?? ""} onChange={(value) => setForm({ ...form, [name]: value === "" ? null : Number(value) })}
          />
        ))}
        <Foot>
          <Button type="submit" loading={submit.busy} disabled={changed.length === 0}>{text.ui.save}</Button>
          <Button variant="default" onClick={close}>{text.ui.cancel}</Button>
        </Foot>
      </Stack>
    </form>
  );
}
