import { Badge, Button, Group, Stack, Text, Title } from "@mantine/core";
import { useAsk, useChange } from "../graph/hooks";
import { useText } from "../text";
import { Problem } from "../ui/Problem";
import { useNotices } from "../ui/useNotices";
import { When } from "../ui/When";
import { RevokeOtherSessions, RevokeSession, Sessions } from "./session.gql";
import { programOf } from "./program";

/** Where the person is signed in, and how that ends. */
export function SessionList() {
  const { text } = useText();
  const { attempt } = useNotices();
  const { data, error, again } = useAsk(Sessions, {});
  const revoke = useChange(RevokeSession);
  const revokeOthers = useChange(RevokeOtherSessions);
  const sessions = data?.me.sessions ?? [];
  return (
    <Stack gap="xs" component="section" aria-label={text.session.sessions}>
      <Title order={2} size="h4">{text.session.sessions}</Title>
      <Text size="sm" c="dimmed">{text.session.sessionsHint}</Text>
      <Problem error={error} again={again} />
      {sessions.map(({ id, userAgent, address, current, lastUsedAt }) => {
        const program = programOf(userAgent) || text.session.unknownProgram;
        return (
          <Group key={id} justify="space-between" wrap="nowrap">
            <div>
              <Group gap="xs">
                <Text>{program}</Text>
                {current && <Badge variant="light">{text.session.thisSession}</Badge>}
              </Group>
              <Text size="sm" c="dimmed">{address} · {text.session.lastUsed} <When at={lastUsedAt} /></Text>
            </div>
            {!current && (
              <Button size="xs" variant="default" aria-label={text.session.endSession(program)} onClick={() => attempt(() => revoke({ input: { id } }))}>{text.session.end}</Button>
            )}
          </Group>
        );
      })}
      {sessions.length > 1 && (
        <Button variant="default" w="fit-content" onClick={() => attempt(() => revokeOthers({ input: {} }))}>{text.session.endOthers}</Button>
      )}
    </Stack>
  );
}
