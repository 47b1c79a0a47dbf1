import { Button, Group, Stack, TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { useText } from "../text";
import { Dialog } from "./Dialog";
import { Problem } from "./Problem";
import { useSubmit } from "./useSubmit";

export interface ConfirmProps {
  title: string;
  /** What it does, and what is lost. */
  children: ReactNode;
  /** Names the deed. */
  button: string;
  /** What has to be typed first, where much is lost: the name of what goes. */
  type?: string;
  close: () => void;
  /** Does it. Where it throws, the reason is shown and nothing closes. */
  work: () => Promise<unknown>;
}

/** Asks before something that can't be undone. */
export function Confirm({ title, children, button, type, close, work }: ConfirmProps) {
  const { text } = useText();
  const [typed, setTyped] = useState("");
  const submit = useSubmit(async () => {
    await work();
    close();
  });
  return (
    <Dialog title={title} close={close}>
      <form onSubmit={submit.onSubmit}>
        <Stack>
          <div>{children}</div>
          <Problem error={submit.error} />
          {type !== undefined && <TextInput label={text.ui.typeToConfirm(type)} value={typed} onChange={(event) => setTyped(event.currentTarget.value)} autoComplete="off" data-autofocus />}
          <Group>
            <Button type="submit" color="red" loading={submit.busy} disabled={type !== undefined && typed.trim() !== type.trim()}>{button}</Button>
            <Button variant="default" onClick={close}>{text.ui.cancel}</Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
