import { Button, Stack, Switch, TextInput, Title } from "@mantine/core";
import { useChange } from "../graph/hooks";
import { useText } from "../text";
import { Problem } from "../ui/Problem";
import { Overtaken, useEdit } from "../ui/useEdit";
import { useNotices } from "../ui/useNotices";
import type { Whole } from "./Context";
import { ShareContext } from "./contexts.gql";

/** Who sees a context, and the sign that it goes by. */
export function Share({ context }: { context: Whole }) {
  const { text } = useText();
  const share = useChange(ShareContext);
  const { offer } = useNotices();
  const edit = useEdit({
    now: { shared: context.shareState === 1, icon: context.icon }, version: context.version,
    save: async (form, was, ifVersion) => {
      const input = ({ shared, icon }: typeof was) => ({ id: context.id, shareState: shared ? 1 : 0, icon: icon || null });
      await share({ input: { ...input(form), ifVersion: ifVersion! } });
      offer(form.shared ? text.contexts.isShared : text.contexts.isPrivate, () => share({ input: input(was) }));
    },
  });
  const { form, was, set: setForm, submit } = edit;
  const changed = form.shared !== was.shared || (form.icon !== was.icon && form.icon !== "");
  return (
    <form onSubmit={submit.onSubmit}>
      <Stack gap="sm">
        <Title order={2} size="h4">{text.contexts.share}</Title>
        <Problem error={submit.rest("shareState", "icon")} />
        <Overtaken of={edit} labels={{ shared: text.contexts.share, icon: text.contexts.icon }} />
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
