import { Button, Group } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { CanopyError } from "canopy-client";
import { useText } from "../text";
import { MailsKept } from "./MailsKept";
import { sentence, whyOf } from "./Problem";

export interface Notices {
  /** Says something in a corner of the page. */
  say: (message: string) => void;
  /** Says what was done, and that a mail tells somebody of it. */
  mailed: (message: string) => void;
  /** Says what was done, with a button that takes it back. Gives what takes the words away, where it can't be taken back any more. */
  offer: (message: string, undo: () => Promise<unknown>) => () => void;
  /** Does something, and says what went wrong with it in a corner of the page; gives whether it went well. */
  attempt: (work: () => Promise<unknown>) => Promise<boolean>;
}

/** Words in a corner of the page. Forms say what is wrong by useSubmit. */
export function useNotices(): Notices {
  const { text } = useText();
  const attempt: Notices["attempt"] = async (work) => {
    try {
      await work();
      return true;
    } catch (why) {
      if (!(why instanceof CanopyError)) throw why;
      notifications.show({ color: "red", message: why.reason === "changed" ? `${text.ui.overtaken} ${text.ui.overtakenNow}` : whyOf(why, text) ?? sentence(why.message), ...close });
      return false;
    }
  };
  const close = { closeButtonProps: { "aria-label": text.ui.close }, withBorder: true };
  return {
    say: (message) => void notifications.show({ message, ...close }),
    mailed: (message) => void notifications.show({ message: <>{message}<MailsKept /></>, autoClose: 15_000, ...close }),
    offer: (message, undo) => {
      const id = notifications.show({
        message: <Group justify="space-between"><span>{message}</span><Button size="xs" variant="default" onClick={() => void attempt(undo).then((done) => done && notifications.hide(id))}>{text.ui.undo}</Button></Group>,
        autoClose: 15_000, ...close,
      });
      return () => notifications.hide(id);
    },
    attempt,
  };
}
