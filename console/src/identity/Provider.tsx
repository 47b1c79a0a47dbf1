import { Alert, Button, Code, Group, NativeSelect, PasswordInput, Skeleton, Stack, Switch, Text, Textarea, TextInput, Title } from "@mantine/core";
import { useNavigate, useParams } from "@tanstack/react-router";
import { providerPath, type Trial, trialOf } from "canopy-client";
import { useState } from "react";
import { useAsk, useChange } from "../graph/hooks";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { applicationName } from "../text/applicationName";
import { Confirm } from "../ui/Confirm";
import { CopyText } from "../ui/CopyText";
import { Empty } from "../ui/Empty";
import { Facts } from "../ui/Facts";
import { Foot } from "../ui/Foot";
import { Problem, sentence } from "../ui/Problem";
import { SidePanel } from "../ui/SidePanel";
import { Overtaken, useEdit } from "../ui/useEdit";
import { useNotices } from "../ui/useNotices";
import { CreateProvider, DeleteProvider, Providers as Ask, type ProvidersResult, UpdateProvider, VerifyDomain } from "./identity.gql";

type OneProvider = ProvidersResult["me"]["customer"]["identityProviders"][number];

/** Sets a provider up. Nobody signs in at it before it is turned on. */
export function NewProvider() {
  const { text } = useText();
  const navigate = useNavigate();
  const { data, error, again } = useAsk(Ask, {});
  const create = useChange(CreateProvider);
  return (
    <SidePanel title={text.identity.create} close={() => navigate({ to: "/identity" })}>
      <Problem error={error} again={again} />
      {(data || !error) && <Form roles={data?.roles ?? []} save={async ({ clientSecret, ...form }) => {
        const { createIdentityProvider } = await create({ input: { ...form, clientSecret: clientSecret ?? "", enabled: false } });
        await navigate({ to: "/identity/$providerId", params: { providerId: String(createIdentityProvider!.identityProvider.databaseId) } });
      }} />}
    </SidePanel>
  );
}

/** One provider: what is registered there, its domains, a try, and its settings. */
export function Provider() {
  const { text } = useText();
  const { providerId } = useParams({ from: "/inside/identity/$providerId" });
  const navigate = useNavigate();
  const { data, error, again } = useAsk(Ask, {});
  const update = useChange(UpdateProvider);
  const { say } = useNotices();
  const { owns } = useMe();
  const provider = data?.me.customer.identityProviders.find(({ databaseId }) => String(databaseId) === providerId);
  return (
    <SidePanel key={providerId} title={provider?.name ?? text.identity.one} close={() => navigate({ to: "/identity" })}>
      <Problem error={error} again={again} />
      {!provider ? !error && (data ? <Empty title={text.problems.notFound} /> : <Skeleton height={240} />) : (
        <Stack>
          <Facts of={[
            [text.identity.redirectUri, <Copied key="redirect" value={provider.redirectUri} />],
            [text.identity.logoutUri, <Copied key="logout" value={provider.backchannelLogoutUri} />],
          ]} />
          <Domains of={provider} />
          <Try of={provider} />
          {!owns && <Text size="sm" c="dimmed">{text.identity.ownersOnly}</Text>}
          {owns && (
            <>
              <Title order={3} size="h5">{text.identity.settings}</Title>
              <Form provider={provider} roles={data!.roles} save={async (form, ifVersion) => {
                await update({ input: { id: provider.id, ...form, ifVersion: ifVersion! } });
                say(text.ui.saved);
              }} />
              <Remove of={provider} />
            </>
          )}
        </Stack>
      )}
    </SidePanel>
  );
}

function Copied({ value }: { value: string }) {
  return <Group gap="xs" wrap="nowrap"><Code style={{ overflowWrap: "anywhere" }}>{value}</Code><CopyText value={value} /></Group>;
}

/** The records that prove the domains, and whether they are there. */
function Domains({ of: { id, claims } }: { of: OneProvider }) {
  const { text } = useText();
  const { owns } = useMe();
  const verify = useChange(VerifyDomain);
  const { attempt } = useNotices();
  if (claims.length === 0) return null;
  return (
    <Stack gap="xs">
      <Title order={3} size="h5">{text.identity.domains}</Title>
      {claims.map(({ domain, status, recordName, recordValue }) => (
        <Stack key={domain} gap={4}>
          <Group gap="xs"><Text size="sm" fw={600}>{domain}</Text><Text size="sm" c="dimmed">{text.identity.statuses[status]}</Text></Group>
          {status === "PENDING" && (
            <>
              <Text size="sm">{text.identity.record}</Text>
              <Copied value={recordName} />
              <Copied value={recordValue} />
              {owns && <Button size="xs" variant="default" w="fit-content" onClick={() => attempt(async () => void await verify({ input: { id, domain } }))}>{text.identity.look}</Button>}
            </>
          )}
        </Stack>
      ))}
    </Stack>
  );
}

/** Signs in at the provider, which lets nobody in here, and shows what it says, or why it says nothing. */
function Try({ of: { databaseId } }: { of: OneProvider }) {
  const { text } = useText();
  const [trial] = useState(() => trialOf(location.hash));
  const there = providerPath({ provider: databaseId, try: true, return: `/console/identity/${databaseId}` });
  return (
    <Stack gap="xs">
      <Title order={3} size="h5">{text.identity.trial}</Title>
      {!trial && <Text size="sm">{text.identity.trialHint}</Text>}
      {trial && "refused" in trial && <Alert color="red" role="alert" title={text.identity.trialBad}>{text.session.sso[trial.refused] ?? sentence(trial.detail)}</Alert>}
      {trial && !("refused" in trial) && <Told of={trial} />}
      <Button component="a" href={there} variant="default" w="fit-content">{text.identity.tryIt}</Button>
    </Stack>
  );
}

/** What the provider says. */
function Told({ of: trial }: { of: Trial }) {
  const { text } = useText();
  const good = trial.emailVerified && trial.domainHolds;
  return (
    <Alert color={good ? "green" : "yellow"} role="status" title={good ? text.identity.trialGood : text.identity.trialBad}>
      <Facts of={[
        [text.identity.subject, trial.subject],
        [text.identity.personName, trial.name || "–"],
        [text.identity.address, trial.email || "–"],
        [text.identity.vouched, trial.emailVerified ? text.ui.yes : text.ui.no],
        [text.identity.holds, trial.domainHolds ? text.ui.yes : text.ui.no],
      ]} />
    </Alert>
  );
}

interface Settings {
  name: string;
  issuer: string;
  clientId: string;
  clientSecret?: string;
  domains: string[];
  defaultRoleId: string | null;
  required: boolean;
  enabled: boolean;
}

function Form({ provider, roles, save }: { provider?: OneProvider; roles: ProvidersResult["roles"]; save: (form: Settings, ifVersion: number | undefined) => Promise<void> }) {
  const { text } = useText();
  const { gives } = useMe();
  const edit = useEdit({ now: {
    name: provider?.name ?? "", issuer: provider?.issuer ?? "", clientId: provider?.clientId ?? "", clientSecret: "", domains: provider?.domains.join("\n") ?? "",
    role: provider?.defaultRole?.id ?? "", required: provider?.required ?? false, enabled: provider?.enabled ?? false,
  }, version: provider?.version, save: (form, _, ifVersion) => save({
    name: form.name, issuer: form.issuer, clientId: form.clientId, ...(form.clientSecret && { clientSecret: form.clientSecret }),
    domains: form.domains.split(/[\s,]+/).filter(Boolean), defaultRoleId: form.role || null, required: form.required, enabled: form.enabled,
  }, ifVersion) });
  const { form, set: setForm, submit } = edit;
  const typed = (field: "name" | "issuer" | "clientId") => ({
    required: true, withAsterisk: false, error: submit.fault(field), value: form[field], onChange: (event: { currentTarget: { value: string } }) => setForm({ ...form, [field]: event.currentTarget.value }),
  });
  return (
    <form onSubmit={submit.onSubmit}>
      <Stack>
        <Problem error={submit.rest("name", "issuer", "clientId", "clientSecret", "domains", "defaultRoleId")} />
        <Overtaken of={edit} labels={{
          name: text.identity.name, issuer: text.identity.issuer, clientId: text.identity.clientId, domains: text.identity.domains, required: text.identity.required, enabled: text.identity.enabled,
        }} />
        <TextInput label={text.identity.name} description={text.identity.nameHint} data-autofocus={!provider || undefined} {...typed("name")} />
        <TextInput label={text.identity.issuer} description={text.identity.issuerHint} placeholder="https://login.example.com" spellCheck={false} {...typed("issuer")} />
        <TextInput label={text.identity.clientId} spellCheck={false} autoComplete="off" {...typed("clientId")} />
        <PasswordInput
          label={text.identity.clientSecret} description={provider && text.identity.secretHint} required={!provider} withAsterisk={false} autoComplete="off" error={submit.fault("clientSecret")}
          visibilityToggleButtonProps={{ "aria-label": text.identity.showSecret }} value={form.clientSecret} onChange={({ currentTarget: { value } }) => setForm({ ...form, clientSecret: value })}
        />
        <Textarea
          label={text.identity.domains} description={text.identity.domainsHint} placeholder="example.com" rows={2} error={submit.fault("domains")}
          value={form.domains} onChange={({ currentTarget: { value } }) => setForm({ ...form, domains: value })}
        />
        <NativeSelect
          label={text.identity.role} description={text.identity.roleHint} error={submit.fault("defaultRoleId")} value={form.role}
          data={[{ value: "", label: text.identity.noRole }, ...roles.filter((role) => !role.isOwner && (gives(role) || role.id === provider?.defaultRole?.id)).map(({ id, name, application }) => ({ value: id, label: text.people.roleIn(name, applicationName(text, application)) }))]}
          onChange={({ currentTarget: { value } }) => setForm({ ...form, role: value })}
        />
        {provider && (
          <>
            <Switch label={text.identity.enabled} description={text.identity.enabledHint} checked={form.enabled} onChange={({ currentTarget: { checked } }) => setForm({ ...form, enabled: checked })} />
            <Switch label={text.identity.required} description={text.identity.requiredHint} checked={form.required} onChange={({ currentTarget: { checked } }) => setForm({ ...form, required: checked })} />
          </>
        )}
        <Foot><Button type="submit" loading={submit.busy}>{provider ? text.ui.save : text.identity.createButton}</Button></Foot>
      </Stack>
    </form>
  );
}

function Remove({ of: { id, name, version } }: { of: OneProvider }) {
  const { text } = useText();
  const navigate = useNavigate();
  const remove = useChange(DeleteProvider);
  const [removing, setRemoving] = useState(false);
  return (
    <>
      <Button variant="default" w="fit-content" c="var(--mantine-color-error)" onClick={() => setRemoving(true)}>{text.identity.remove}</Button>
      {removing && (
        <Confirm title={text.identity.removeTitle(name)} button={text.identity.remove} close={() => setRemoving(false)} work={async () => {
          await remove({ input: { id, ifVersion: version } });
          await navigate({ to: "/identity" });
        }}>
          {text.identity.removeHint}
        </Confirm>
      )}
    </>
  );
}
