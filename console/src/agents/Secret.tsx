import { Alert, Button, Code, Group, PasswordInput, Skeleton, Stack, Text, TextInput } from "@mantine/core";
import { useNavigate, useParams } from "@tanstack/react-router";
import { CanopyError } from "canopy-client";
import { type FormEvent, useState } from "react";
import { useAsk, useChange } from "../graph/hooks";
import { useText } from "../text";
import { Confirm } from "../ui/Confirm";
import { CopyText } from "../ui/CopyText";
import { Empty } from "../ui/Empty";
import { Facts } from "../ui/Facts";
import { Foot } from "../ui/Foot";
import { Problem } from "../ui/Problem";
import { SidePanel } from "../ui/SidePanel";
import { useNotices } from "../ui/useNotices";
import { useSubmit } from "../ui/useSubmit";
import { When } from "../ui/When";
import { DeleteSecret, RestoreSecret, Secrets as Ask, type SecretsResult, UpdateSecret } from "./agents.gql";

type OneSecret = NonNullable<SecretsResult["me"]["customer"]["secrets"]>[number];

/** One secret: where it is used by its name, another value for it, and its end. */
export function Secret() {
  const { text } = useText();
  const { secretId } = useParams({ from: "/inside/agents/secrets/$secretId" });
  const navigate = useNavigate();
  const { data, error, again } = useAsk(Ask, {});
  const secret = data?.me.customer.secrets?.find(({ databaseId }) => String(databaseId) === secretId);
  const close = () => navigate({ to: "/agents/secrets" });
  return (
    <SidePanel key={secretId} title={secret?.name ?? text.agents.secret} close={close}>
      <Problem error={error} again={again} />
      {secret ? <Shown secret={secret} again={again} close={close} /> : !error && (data ? <Empty title={text.problems.notFound} /> : <Skeleton height={200} />)}
    </SidePanel>
  );
}

function Shown({ secret, again, close }: { secret: OneSecret; again: () => void; close: () => Promise<void> }) {
  const { text } = useText();
  const remove = useChange(DeleteSecret);
  const restore = useChange(RestoreSecret);
  const { say, offer, attempt } = useNotices();
  const [removing, setRemoving] = useState(false);
  const { id, name, createdAt, updatedAt, version } = secret;
  const hide = () => attempt(async () => {
    await remove({ input: { id, ifVersion: version, restorable: true } });
    await close();
    offer(text.agents.removedForNow(name), () => restore({ input: { id } }));
  });
  const read = `{{ secrets.${name} }}`;
  return (
    <Stack>
      <Facts of={[
        [text.agents.secretRead, <Group key="read" gap="xs"><Code>{read}</Code><CopyText value={read} /></Group>],
        [text.agents.secretMade, <When key="made" at={createdAt} />],
        [text.agents.secretWritten, <When key="written" at={updatedAt} />],
      ]} />
      <Replace secret={secret} again={again} />
      <Text size="sm" c="dimmed">{text.agents.removeForNowHint(name)}</Text>
      <Group gap="xs">
        <Button color="red" variant="light" onClick={hide}>{text.agents.removeSecret}</Button>
        <Button variant="default" c="var(--mantine-color-error)" onClick={() => setRemoving(true)}>{text.agents.removeForGood}</Button>
      </Group>
      {removing && (
        <Confirm
          title={text.agents.removeSecretTitle(name)} button={text.agents.removeForGood} close={() => setRemoving(false)}
          work={async () => {
            await remove({ input: { id, ifVersion: version } });
            say(text.agents.removed(name));
            await close();
          }}
        >
          {text.agents.removeSecretHint(name)}
        </Confirm>
      )}
    </Stack>
  );
}

/** Another name or value. What is left empty stays. Where somebody else has written it meanwhile, that is said before. */
function Replace({ secret, again }: { secret: OneSecret; again: () => void }) {
  const { text } = useText();
  const update = useChange(UpdateSecret);
  const { say } = useNotices();
  const [form, setForm] = useState({ name: secret.name, value: "" });
  const [version, setVersion] = useState(secret.version);
  const [asking, setAsking] = useState(false);
  const submit = useSubmit(async () => {
    try {
      const { updateSecret } = await update({ input: { id: secret.id, ...(form.name === secret.name ? {} : { name: form.name }), ...(form.value === "" ? {} : { value: form.value }), ifVersion: version } });
      setVersion(updateSecret!.secret.version);
    } catch (why) {
      if (!(why instanceof CanopyError) || why.reason !== "changed") throw why;
      return again();
    }
    setForm({ ...form, value: "" });
    say(text.ui.saved);
  });
  // Another value takes the place of one that nobody can read any more.
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    if (form.value === "") submit.onSubmit(event);
    else setAsking(true);
  };
  // The dialog stands beside the form: what is sent in it is not sent in this one.
  return (
    <>
      <form onSubmit={onSubmit}>
        <Stack>
          <Problem error={submit.rest("name", "value")} />
          {secret.version > version && (
            <Alert color="yellow" role="alert" title={text.agents.secretChanged}>
              <Stack gap="xs" align="start">
                <Text size="sm">{text.agents.secretChangedHint}</Text>
                <Button size="xs" variant="default" onClick={() => setVersion(secret.version)}>{text.agents.keepMine}</Button>
              </Stack>
            </Alert>
          )}
          <TextInput
            label={text.agents.name} description={text.agents.secretRenameHint} spellCheck={false} autoComplete="off" error={submit.fault("name")}
            value={form.name} onChange={({ currentTarget: { value } }) => setForm({ ...form, name: value })}
          />
          <PasswordInput
            label={text.agents.secretNew} description={text.agents.secretNewHint} autoComplete="off" error={submit.fault("value")}
            value={form.value} onChange={({ currentTarget: { value } }) => setForm({ ...form, value })} visibilityToggleButtonProps={{ "aria-label": text.agents.showTyped }}
          />
          <Foot><Button type="submit" loading={submit.busy} disabled={form.name === secret.name && form.value === ""}>{text.agents.replaceSecret}</Button></Foot>
        </Stack>
      </form>
      {asking && (
        <Confirm title={text.agents.replaceTitle(secret.name)} button={text.agents.replaceSecret} close={() => setAsking(false)} work={async () => submit.onSubmit()}>
          {text.agents.replaceHint}
        </Confirm>
      )}
    </>
  );
}
