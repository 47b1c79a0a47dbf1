import { Button, Stack, Switch, TextInput, Title } from "@mantine/core";
import { useState } from "react";
import { useChange } from "../graph/hooks";
import { useText } from "../text";
import { Problem } from "../ui/Problem";
import { useNotices } from "../ui/useNotices";
import { useSubmit } from "../ui/useSubmit";
import type { Whole } from "./Context";
import { ShareContext } from "./contexts.gql";

/** Who sees a context, and the sign that it goes by. */
export function Share({ context }: { context: Whole }) {
  const { text } = useText();
  const [form, setForm] = useState({ shared: context.shareState === 1, icon: context.icon });
  const share = useChange(ShareContext);
  const { offer } = useNotices();
  const submit = useSubmit(async () => {
    const { id, shareState, icon, version } = context;
    await share({ input: { id, shareState: form.shared ? 1 : 0, icon: form.icon || null, ifVersion: version } });
    offer(form.shared ? text.contexts.isShared : text.contexts.isPrivate, () => share({ input: { id, shareState, icon: icon || null } }));
  });
  const changed = form.shared !== (context.shareState === 1) || (form.icon !== context.icon && form.icon !== "");
  return (
    <form onSubmit={submit.onSubmit}>
      <Stack gap="sm">
        <Title order={2} size="h4">{text.contexts.share}</Title>
        <Problem error={submit.rest("shareState", "icon")} />
        <Switch
          label={text.contexts.shareWith(context.account?.name ?? "")} description={text.contexts.shareHint} error={submit.fault("shareState")}
          checked={form.shared} onChange={(event) => setForm({ ...form, shared: event.currentTarget.checked })}
        />
        <TextInput
          w="12rem" label={text.contexts.icon} description={text.contexts.iconHint} error={submit.fault("icon")}
          value={form.icon} onChange={(event) => setForm({ ...form, icon: event.currentTarget.value })}
        />
        <Button type="submit" w="fit-content" loading={submit.busy} disabled={!changed}>{text.ui.save}</Button>
      </Stack>
    </form>
  );
}
