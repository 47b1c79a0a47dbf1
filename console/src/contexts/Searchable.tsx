import { Progress, Text } from "@mantine/core";
import { useAsk } from "../graph/hooks";
import { useText } from "../text";
import { useOnChanges } from "./changes";
import { Counts } from "./contexts.gql";

/** How many documents can be found, as long as some can't yet. */
export function Searchable({ contextId }: { contextId: string }) {
  const { text, format } = useText();
  const { data, again } = useAsk(Counts, { id: contextId });
  useOnChanges(again);
  if (!data?.context) return null;
  const { all, ready, failed } = data.context;
  const done = ready.totalCount + failed.totalCount;
  if (done >= all.totalCount) return null;
  return (
    <div>
      <Text size="sm" role="status">{text.contexts.searchable(format.number(ready.totalCount), format.number(all.totalCount))}</Text>
      <Progress value={(done / all.totalCount) * 100} size="sm" aria-label={text.contexts.readingAll} />
    </div>
  );
}
