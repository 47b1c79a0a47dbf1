import { Button, Group, Progress, Text } from "@mantine/core";
import { useEffect, useRef } from "react";
import { useAsk, useChange } from "../graph/hooks";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { useFocusBack } from "../ui/useFocusBack";
import { useNotices } from "../ui/useNotices";
import { When } from "../ui/When";
import { useOnChanges } from "./changes";
import { CancelReprocessing, Counts } from "./contexts.gql";

// How often it is looked whether it goes on, in ms.
const pause = 3000;

/** How far it is that all documents of a context are read anew, with a way to end that. What has become of the last time is told where that is asked for. */
export function Reprocessing({ contextId, last = false }: { contextId: string; last?: boolean }) {
  const { text, format } = useText();
  const me = useMe();
  const { data, again } = useAsk(Counts, { id: contextId });
  useOnChanges(again);
  const now = data?.context?.reprocessing;
  const running = now?.status === "RUNNING";
  const look = useRef(again);
  look.current = again;
  // Each document that is read is told; that none is left is not.
  useEffect(() => {
    if (!running) return;
    const timer = setInterval(() => look.current(), pause);
    return () => clearInterval(timer);
  }, [running]);
  if (!now) return null;
  if (!running) {
    return last && now.endedAt ? <Text size="sm">{now.status === "DONE" ? text.contexts.readAnew : text.contexts.readAnewInPart(format.number(now.done), format.number(now.documents))} <When at={now.endedAt} /></Text> : null;
  }
  return (
    <div>
      <Group justify="space-between" gap="xs" mb={4}>
        <Text size="sm" role="status">{text.contexts.readingAnew(format.number(now.done), format.number(now.documents))}</Text>
        {me.can("context.write") && <End contextId={data!.context!.id} />}
      </Group>
      <Progress value={now.progress * 100} size="sm" aria-label={text.contexts.howFarAnew} />
    </div>
  );
}

/** Leaves the documents as they are whose turn has not come. */
function End({ contextId }: { contextId: string }) {
  const { text } = useText();
  const cancel = useChange(CancelReprocessing);
  const { attempt, say } = useNotices();
  useFocusBack(); // it goes with what it has ended
  const end = async () => {
    if (await attempt(() => cancel({ input: { id: contextId } }))) say(text.contexts.readingAnewEnded);
  };
  return <Button size="compact-sm" variant="default" onClick={() => void end()}>{text.contexts.endReadingAnew}</Button>;
}
