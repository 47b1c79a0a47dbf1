import { Anchor, Button, NativeSelect, Skeleton, Stack, Table, Text } from "@mantine/core";
import "@mantine/core/styles/Table.css";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useAsk } from "../graph/hooks";
import { useText } from "../text";
import { Empty } from "../ui/Empty";
import { Problem } from "../ui/Problem";
import { When } from "../ui/When";
import { ContextHead, useContextOf, type Whole } from "./Context";
import { Questions as AskQuestions, type QuestionsResult } from "./contexts.gql";
import { findings, type QuestionsSearch } from "./address";

type Row = NonNullable<QuestionsResult["context"]>["missed"]["nodes"][number];

// What has less than this relevance is little: of such hits one in five is an answer.
const most = { nothing: 0, little: 0.2 };

/** Which questions found nothing or little, and how often they were asked. */
export function Questions() {
  const { contextId } = useParams({ from: "/inside/contexts/$contextId/questions" });
  const { context } = useContextOf(contextId);
  if (!context) return null;
  return (
    <>
      <ContextHead context={context} />
      {context.logsQueries ? <Asked context={context} /> : <NotKept context={context} />}
    </>
  );
}

function NotKept({ context }: { context: Whole }) {
  const { text: { contexts: t } } = useText();
  return (
    <Empty
      title={t.notKept} hint={t.notKeptHint}
      action={<Button renderRoot={(props) => <Link to="/contexts/$contextId/settings" params={{ contextId: String(context.databaseId) }} {...props} />} variant="default">{t.toSettings}</Button>}
    />
  );
}

function Asked({ context }: { context: Whole }) {
  const { text: { contexts: t } } = useText();
  const navigate = useNavigate();
  const contextId = String(context.databaseId);
  const search: QuestionsSearch = useSearch({ from: "/inside/contexts/$contextId/questions" });
  const found = search.found ?? "nothing";
  const { data, error, again } = useAsk(AskQuestions, { id: contextId, most: most[found] });
  return (
    <Stack gap="sm">
      <NativeSelect
        label={t.found} w="fit-content" value={found} data={findings.map((value) => ({ value, label: t.findings[value] }))}
        onChange={({ currentTarget: { value } }) => navigate({ to: "/contexts/$contextId/questions", params: { contextId }, search: { found: value === "little" ? "little" : undefined } })}
      />
      {error && !data && <Problem error={error} again={again} />}
      {!data && !error && <Skeleton height={200} />}
      {data?.context && <Missed of={data.context} contextId={contextId} />}
    </Stack>
  );
}

function Missed({ of: { all, missed }, contextId }: { of: NonNullable<QuestionsResult["context"]>; contextId: string }) {
  const { text: { contexts: t }, format } = useText();
  const groups = grouped(missed.nodes);
  if (groups.length === 0) {
    return (
      <Empty
        title={all.totalCount === 0 ? t.noQuestion : t.allFound} hint={all.totalCount === 0 ? t.noQuestionHint : t.allFoundHint(all.totalCount, format.number(all.totalCount))}
        action={<Button renderRoot={(props) => <Link to="/contexts/$contextId/ask" params={{ contextId }} {...props} />} variant="default">{t.askButton}</Button>}
      />
    );
  }
  return (
    <>
      <Text size="sm" c="dimmed" role="status">
        {t.missed(format.number(missed.totalCount), format.number(all.totalCount))}
        {missed.totalCount > missed.nodes.length && ` ${t.newest(format.number(missed.nodes.length))}`}
      </Text>
      <Table>
        <Table.Thead><Table.Tr><Table.Th>{t.askedFor}</Table.Th><Table.Th>{t.times}</Table.Th><Table.Th>{t.lastAsked}</Table.Th></Table.Tr></Table.Thead>
        <Table.Tbody>
          {groups.map(({ text, count, last }) => (
            <Table.Tr key={text}>
              <Table.Td className="asked"><Anchor size="sm" renderRoot={(props) => <Link to="/contexts/$contextId/search" params={{ contextId }} search={{ prompt: text }} {...props} />}>{text}</Anchor></Table.Td>
              <Table.Td>{format.number(count)}</Table.Td>
              <Table.Td><When at={last} /></Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </>
  );
}

/** The same questions as one, without regard to case and spaces; those that were asked most come first. */
function grouped(rows: readonly Row[]): { text: string; count: number; last: string }[] {
  const groups = new Map<string, { text: string; count: number; last: string }>();
  for (const { text, createdAt } of rows) {
    const key = text.toLowerCase().replace(/\s+/g, " ").trim();
    const group = groups.get(key) ?? { text, count: 0, last: createdAt };
    group.count++;
    groups.set(key, group);
  }
  return [...groups.values()].sort((a, b) => b.count - a.count);
}
