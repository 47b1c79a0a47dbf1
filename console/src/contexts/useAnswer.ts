import type { CanopyError } from "canopy-client";
import { useCallback, useEffect, useRef, useState } from "react";
import { type AnyVariables, type Client, useClient } from "urql";
import { pipe, subscribe } from "wonka";
import { errorOf } from "../graph/hooks";
import { AskContext, type AskContextResult } from "./contexts.gql";

export type Answer = AskContextResult["askContext"];

/** What is known of a question. */
interface Told {
  answer?: Answer | undefined;
  error?: CanopyError | undefined;
  stopped?: boolean;
}

// Who comes back from a document finds the answer as it was: it is not asked for again. So many are kept.
const kept = new WeakMap<Client, Map<string, Answer>>();
const mostKept = 20;

function keep(client: Client, key: string, answer: Answer): void {
  const answers = kept.get(client) ?? new Map<string, Answer>();
  kept.set(client, answers);
  answers.delete(key);
  answers.set(key, answer);
  if (answers.size > mostKept) answers.delete(answers.keys().next().value!);
}

export interface Asked extends Told {
  /** More is to come. */
  busy: boolean;
  /** Leaves the answer as it is. */
  stop: () => void;
  /** Asks the question anew. */
  again: () => void;
}

/** Asks a question, if there is one, and gives the answer as it comes. */
export function useAnswer(contextId: string, prompt: string | undefined): Asked {
  const client = useClient();
  const key = JSON.stringify([contextId, prompt]);
  const [round, setRound] = useState(0);
  const [{ of, ...told }, setTold] = useState<Told & { of?: string }>({});
  const leave = useRef(() => {});
  useEffect(() => {
    const known = kept.get(client)?.get(key);
    setTold({ of: key, answer: known });
    if (prompt === undefined || known) return;
    const events = client.subscription<AskContextResult, AnyVariables>(AskContext.toString(), { id: contextId, prompt }, { once: true });
    const { unsubscribe } = pipe(events, subscribe(({ data, error }) => {
      if (data?.askContext.done) keep(client, key, data.askContext);
      setTold(({ answer }) => ({ of: key, answer: data?.askContext ?? answer, error: errorOf(error) }));
    }));
    leave.current = unsubscribe;
    return unsubscribe;
  }, [client, contextId, prompt, key, round]);
  const stop = useCallback(() => {
    leave.current();
    setTold((before) => ({ ...before, stopped: true }));
  }, []);
  const again = useCallback(() => {
    kept.get(client)?.delete(key);
    setRound((before) => before + 1);
  }, [client, key]);
  const own: Told = of === key ? told : {};
  return { ...own, busy: prompt !== undefined && !own.answer?.done && !own.error && !own.stopped, stop, again };
}
