import { Button, List, Stack, Text, Title } from "@mantine/core";
import { useState } from "react";
import { useChange } from "../graph/hooks";
import { useText } from "../text";
import { Confirm } from "../ui/Confirm";
import { useNotices } from "../ui/useNotices";
import { plainly } from "./lastOwner";
import { useMe } from "./rights";
import { EraseOneself } from "./session.gql";
import { session, signOutBy } from "./session";

/** Erases the person for good. */
export function Erase() {
  const { text } = useText();
  const { say } = useNotices();
  const { email, user } = useMe();
  const [asked, setAsked] = useState(false);
  const erase = useChange(EraseOneself);
  const owned = session.companies.flatMap(({ isOwner, displayName }) => (isOwner ? [displayName] : []));
  const work = () => plainly(() => signOutBy(async () => {
    await erase({ input: { userId: user.id } });
    say(text.session.erased);
  }), text.session.lastOwnerOf(owned.join(", ")));
  return (
    <Stack gap="xs" component="section" aria-label={text.session.erase}>
      <Title order={2} size="h4">{text.session.erase}</Title>
      <Text size="sm" c="dimmed">{text.session.eraseHint}</Text>
      <Button variant="default" c="var(--mantine-color-error)" w="fit-content" onClick={() => setAsked(true)}>{text.session.erase}</Button>
      {asked && (
        <Confirm title={text.session.eraseTitle} button={text.session.eraseDo} type={email} close={() => setAsked(false)} work={work}>
          <List size="sm">
            {text.session.eraseWhat.map((one) => <List.Item key={one}>{one}</List.Item>)}
          </List>
          <Text size="sm" mt="xs">{text.session.eraseOut}</Text>
        </Confirm>
      )}
    </Stack>
  );
}
