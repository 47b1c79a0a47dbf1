import { Stack, Title } from "@mantine/core";
import { useParams } from "@tanstack/react-router";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { Facts } from "../ui/Facts";
import { When } from "../ui/When";
import { ContextHead, useContextOf, type Whole } from "./Context";
import { Delete } from "./Delete";
import { Reprocess } from "./Reprocess";
import { SettingsForm } from "./SettingsForm";
import { Share } from "./Share";

/** What can be set of a context, with what each setting does; those who can't change it see how it is. */
export function Settings() {
  const { text } = useText();
  const me = useMe();
  const { contextId } = useParams({ from: "/inside/contexts/$contextId/settings" });
  const { context } = useContextOf(contextId);
  if (!context) return null;
  return (
    <>
      <ContextHead context={context} />
      <Stack gap="xl" maw="44rem">
        {me.can("context.write") ? (
          <>
            <SettingsForm key={context.id} context={context} />
            <Reprocess context={context} />
            <Share key={`share ${context.id}`} context={context} />
          </>
        ) : <Shown context={context} />}
        <section>
          <Title order={2} size="h4" mb="xs">{text.contexts.about}</Title>
          <Facts of={[
            [text.contexts.account, context.account?.name ?? "–"],
            [text.contexts.creator, context.creator?.name ?? "–"],
            [text.contexts.created, <When key="created" at={context.createdAt} />],
            [text.contexts.room, <Bytes key="room" of={context.maxSize} />],
            [text.contexts.id, context.databaseId],
          ]} />
        </section>
        {me.can("context.write") && <Delete context={context} />}
      </Stack>
    </>
  );
}

function Bytes({ of }: { of: number }) {
  const { format } = useText();
  return format.bytes(of);
}

function Shown({ context }: { context: Whole }) {
  const { text, format } = useText();
  return (
    <Facts of={[
      [text.contexts.instructions, context.description || "–"],
      [text.contexts.starters, context.starterPrompts.join(" · ") || "–"],
      [text.contexts.topN, format.number(context.topN)],
      [text.contexts.threshold, format.number(context.scoreThreshold)],
      [text.contexts.mode, text.contexts.modes[context.searchMode]],
      [text.contexts.weight, format.number(context.denseWeight)],
      [text.contexts.logsQueries, context.logsQueries ? text.ui.yes : text.ui.no],
      [text.contexts.model, context.embeddingModel],
      [text.contexts.chunkSize, format.number(context.chunkSize)],
      [text.contexts.overlap, format.number(context.overlap)],
    ]} />
  );
}
