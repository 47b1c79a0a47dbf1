import { Button, Group, Loader, Stack, Text, TextInput, Title } from "@mantine/core";
import { IconMessageQuestion, IconPlayerStop, IconRefresh } from "@tabler/icons-react";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { useText } from "../text";
import { CopyText } from "../ui/CopyText";
import { Empty } from "../ui/Empty";
import { closeKeyboard } from "../ui/keyboard";
import { Problem } from "../ui/Problem";
import { AnswerText, AnswerWarnings } from "./AnswerText";
import { Begin } from "./Begin";
import { ContextHead, useContextOf, type Whole } from "./Context";
import { Searchable } from "./Searchable";
import { sourcesOf } from "./sentences";
import { Sources } from "./Sources";
import { type Answer, type Asked, useAnswer } from "./useAnswer";

/** Answers a question from a context's documents. What is asked stands in the address. */
export function Ask() {
  const { contextId } = useParams({ from: "/inside/contexts/$contextId/ask" });
  const { context } = useContextOf(contextId);
  const { prompt } = useSearch({ from: "/inside/contexts/$contextId/ask" });
  const asked = useAnswer(contextId, prompt);
  if (!context) return null;
  return <Shown context={context} prompt={prompt} asked={asked} />;
}

function Shown({ context, prompt, asked }: { context: Whole; prompt: string | undefined; asked: Asked }) {
  const { text } = useText();
  return (
    <>
      <ContextHead context={context} />
      <Question context={context} prompt={prompt} again={asked.again} />
      <Searchable contextId={String(context.databaseId)} />
      {prompt === undefined
        ? <Begin context={context} hint={text.contexts.askHint} to="/contexts/$contextId/ask" />
        : <Outcome context={context} prompt={prompt} asked={asked} />}
    </>
  );
}

function Question({ context, prompt, again }: { context: Whole; prompt: string | undefined; again: () => void }) {
  const { text } = useText();
  const navigate = useNavigate();
  const [question, setQuestion] = useState(prompt ?? "");
  // The field follows the address, and keeps the focus.
  const [shown, setShown] = useState(prompt);
  if (shown !== prompt) {
    setShown(prompt);
    setQuestion(prompt ?? "");
  }
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    closeKeyboard();
    const next = question.trim() || undefined;
    if (next === prompt) return again();
    void navigate({ to: "/contexts/$contextId/ask", params: { contextId: String(context.databaseId) }, search: { prompt: next } });
  };
  return (
    <form role="search" onSubmit={onSubmit}>
      <Group gap="xs" align="end">
        <TextInput
          flex="1 1 18rem" label={text.contexts.question} leftSection={<IconMessageQuestion size={16} aria-hidden />} required withAsterisk={false} autoFocus={!prompt}
          value={question} onChange={(event) => setQuestion(event.currentTarget.value)}
        />
        <Button type="submit">{text.contexts.askButton}</Button>
      </Group>
    </form>
  );
}

/** The answer as far as it has come, and what can be done with it. */
function Outcome({ context, prompt, asked: { answer, error, stopped, busy, stop, again } }: { context: Whole; prompt: string; asked: Asked }) {
  const { text: { contexts: t } } = useText();
  const id = String(context.databaseId);
  if (answer?.nothingFound && !error) return <NothingFound context={context} prompt={prompt} />;
  return (
    <section aria-label={t.answer} aria-busy={busy}>
      <Stack gap="sm">
        {answer && !answer.extractive && <AnswerText answer={answer} contextId={id} prompt={prompt} />}
        {!error && (
          <Group gap="sm" mih="1.9rem">
            <Group gap="xs" role="status">
              {busy && <Loader size="xs" aria-hidden />}
              <Text size="sm" c="dimmed"><Progress answer={answer} stopped={stopped} /></Text>
            </Group>
            {busy
              ? <Button size="xs" variant="default" leftSection={<IconPlayerStop size={14} aria-hidden />} onClick={stop}>{t.stopAnswer}</Button>
              : <Button size="xs" variant="default" leftSection={<IconRefresh size={14} aria-hidden />} onClick={again}>{t.askAgain}</Button>}
            {answer && !busy && <CopyText value={answer.text} label={t.copyAnswer} />}
          </Group>
        )}
        <Problem error={error} again={again} byItself={false} />
        {answer && <AnswerWarnings of={answer.warnings} />}
        {answer && <GoesBy answer={answer} contextId={id} prompt={prompt} />}
      </Stack>
    </section>
  );
}

/** How far an answer is, in words. */
function Progress({ answer, stopped }: { answer: Answer | undefined; stopped: boolean | undefined }) {
  const { text: { contexts: t }, format } = useText();
  if (stopped) return t.answerStopped;
  if (!answer) return t.looking;
  if (!answer.done) return t.answering;
  const { length } = sourcesOf(answer);
  return answer.extractive ? t.extractive : t.answered(length, format.number(length));
}

/** What an answer goes by. */
function GoesBy({ answer, contextId, prompt }: { answer: Answer; contextId: string; prompt: string }) {
  const { text: { contexts: t } } = useText();
  const sources = sourcesOf(answer);
  if (sources.length === 0) return null;
  const noModel = answer.extractive && answer.warnings.length === 0;
  return (
    <>
      {noModel && <Text size="sm" c="dimmed">{t.extractiveHint}</Text>}
      <Title order={2} size="h5">{answer.extractive ? t.passages : t.sources}</Title>
      <Sources of={sources} contextId={contextId} prompt={prompt} />
    </>
  );
}

function NothingFound({ context, prompt }: { context: Whole; prompt: string }) {
  const { text: { contexts: t }, format } = useText();
  const params = { contextId: String(context.databaseId) };
  const { scoreThreshold: threshold } = context;
  return (
    <div role="status">
      <Empty
        title={t.documentsDontSay} hint={threshold > 0 ? `${t.documentsDontSayHint} ${t.answerThreshold(format.number(threshold))}` : t.documentsDontSayHint}
        action={(
          <Group gap="xs" justify="center">
            <Button
              variant="default"
              renderRoot={(props) => <Link to="/contexts/$contextId/search" params={params} search={{ prompt, threshold: threshold > 0 ? 0 : undefined }} {...props} />}
            >
              {t.closest}
            </Button>
            <Button variant="default" renderRoot={(props) => <Link to="/contexts/$contextId" params={params} {...props} />}>{t.toDocuments}</Button>
          </Group>
        )}
      />
    </div>
  );
}
