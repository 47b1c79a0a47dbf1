import { Code, Text } from "@mantine/core";
import { useText } from "../text";
import { CopyText } from "./CopyText";

/** The folder that the platform puts mails in, where it sends none: a platform for development says so in its page. */
const folder = document.querySelector<HTMLMetaElement>('meta[name="mails"]')?.content;

/** Says, where mails are kept in place of being sent, where they are. */
export function MailsKept() {
  const { text } = useText();
  if (!folder) return null;
  return (
    <Text component="div" size="sm" mt="xs" role="note">
      {text.ui.mailsKept} <Code style={{ overflowWrap: "anywhere" }}>{folder}</Code> <CopyText value={folder} />
    </Text>
  );
}
