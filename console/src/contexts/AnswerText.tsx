import { Alert, Badge, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { Fragment } from "react";
import { useText } from "../text";
import { sentence as inWords } from "../ui/Problem";
import { type Sentence, sentencesOf } from "./sentences";
import { useOpening } from "./Sources";
import type { Answer } from "./useAnswer";

/** What a model has written, each sentence with the ways to what it goes by, or with a word that it goes by nothing. */
export function AnswerText({ answer, contextId, prompt }: { answer: Answer; contextId: string; prompt: string }) {
  return (
    <p className="piece answer">
      {sentencesOf(answer).map((sentence) => <Said key={sentence.start} sentence={sentence} contextId={contextId} prompt={prompt} />)}
    </p>
  );
}

function Said({ sentence, contextId, prompt }: { sentence: Sentence; contextId: string; prompt: string }) {
  const { text: { contexts: t } } = useText();
  const opening = useOpening(contextId, prompt);
  const badge = sentence.faults.includes("uncited") ? t.noSource : sentence.faults.includes("citation_removed") && t.sourceRemoved;
  return (
    <>
      {sentence.text}
      {sentence.sources.map(({ number, citation }) => {
        const { name, place, link } = opening(citation);
        return <Fragment key={number}> <Link {...link} className="cite" title={citation.quote} aria-label={t.source(number, name, place)}>{number}</Link></Fragment>;
      })}
      {badge && <> <Badge size="md" variant="default" className="unsure" leftSection={<IconAlertTriangle size={12} aria-hidden />}>{badge}</Badge></>}
    </>
  );
}

/** What is wrong with an answer, each thing once. */
export function AnswerWarnings({ of }: { of: Answer["warnings"] }) {
  const { text: { contexts: t } } = useText();
  if (of.length === 0) return null;
  const known: Record<string, string> = t.answerWarnings;
  const sentences = new Set(of.map(({ code, message }) => known[code] ?? inWords(message)));
  return (
    <Alert color="yellow" icon={<IconAlertTriangle aria-hidden />} title={t.beCareful}>
      {[...sentences].map((one) => <Text key={one} size="sm">{one}</Text>)}
    </Alert>
  );
}
