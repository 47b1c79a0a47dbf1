import { Alert, Button, Code, Group, Stack, Text } from "@mantine/core";
import { useRouter } from "@tanstack/react-router";
import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { type Granted, has, type Me, rights, useMe } from "../session/rights";
import { currentSigned, goOn, watchSigned } from "../session/session";
import { useText } from "../text";
import { Problem } from "../ui/Problem";
import { lookAgain, unsaved, watchUnsaved } from "../ui/unsaved";
import { useSubmit } from "../ui/useSubmit";

/** Tells whether there is something on the screen that would be lost with it, whenever that changes. */
export function useUnsavedHere(): boolean {
  const router = useRouter();
  useEffect(() => router.subscribe("onRendered", lookAgain), [router]);
  return useSyncExternalStore(watchUnsaved, unsaved);
}

/**
 * What the screens go by: what somebody may do, and as long as something is not saved also what they could do before, as it would be
 * taken off the screen otherwise. What is lost is named in `lost`, and the platform refuses it.
 */
export function useRightsKept(now: Omit<Me, "lost"> | undefined): Me | undefined {
  const before = useRef(now);
  const keep = useUnsavedHere();
  const lost = now && before.current && keep ? lostBetween(before.current, now) : [];
  if (lost.length === 0) before.current = now;
  return before.current && { ...before.current, lost };
}

function lostBetween(before: Granted, now: Granted) {
  return rights.filter((right) => has(before, right) && !has(now, right));
}

/** Says why what is on the screen can't be saved by now, and that it stays. */
export function Kept({ again }: { again: () => void }) {
  const signed = useSyncExternalStore(watchSigned, currentSigned);
  return signed.state === "in" ? <Lost /> : <Ended again={again} />;
}

function Lost() {
  const { text } = useText();
  const { lost } = useMe();
  if (lost.length === 0) return null;
  return (
    <Alert color="yellow" role="alert" title={text.app.lost} mb="sm">
      <Text size="sm">{text.app.lostHint}</Text>
      <Group gap="xs" mt="xs">{lost.map((right) => <Code key={right}>{right}</Code>)}</Group>
    </Alert>
  );
}

/** The session was ended elsewhere. It goes on here once the same person has signed in again, in another tab of this browser. */
function Ended({ again }: { again: () => void }) {
  const { text } = useText();
  const { user, customer } = useMe();
  const [nobody, setNobody] = useState(false);
  const submit = useSubmit(async () => {
    setNobody(false);
    if (await goOn(customer.databaseId)) again();
    else setNobody(true);
  });
  return (
    <Alert color="yellow" role="alert" title={text.session.ended} mb="sm">
      <Stack gap="xs" align="start">
        <Text size="sm">{text.app.endedHint}</Text>
        <Problem error={submit.error} />
        {nobody && <Text size="sm" role="status">{text.app.endedStill(user.name ?? "")}</Text>}
        <Group gap="xs">
          <Button component="a" size="xs" href="/console/sign-in" target="_blank" rel="noopener">{text.app.signInBeside}</Button>
          <Button size="xs" variant="default" loading={submit.busy} onClick={() => submit.onSubmit()}>{text.app.goOn}</Button>
        </Group>
      </Stack>
    </Alert>
  );
}
