import { CanopyError } from "canopy-client";
import { useEffect, useMemo, useRef, useState } from "react";
import { useChange } from "../graph/hooks";
import { useText } from "../text";
import { useNotices } from "../ui/useNotices";
import type { WholeAgent } from "./Agent";
import { SaveAgent } from "./agents.gql";
import { type Change, outputOf, stepsOf } from "./steps";
import { isObject, type Json, parsed, written } from "./value";

export interface Draft {
  /** The JSON as it is written by now. */
  source: string;
  /** What it says; undefined as long as it is no JSON. */
  value: Json | undefined;
  /** What it said when it was JSON last. */
  shown: Json | undefined;
  dirty: boolean;
  busy: boolean;
  error: CanopyError | undefined;
  /** What somebody else has saved since, where it is neither what this began from nor what is written here. */
  theirs: string | undefined;
  write: (source: string) => void;
  change: Change;
  save: () => Promise<void>;
  /** Drops what is not saved. */
  reset: () => void;
  /** Goes on from what somebody else has saved, with what is written here. */
  keepMine: () => void;
}

/** An agent's draft as it is edited here, while others may edit it elsewhere. */
export function useDraft(agent: WholeAgent, again: () => void): Draft {
  const { text } = useText();
  const saveAgent = useChange(SaveAgent);
  const { say, offer } = useNotices();
  // What was dropped can be had back as long as this is shown.
  const forget = useRef<() => void>(undefined);
  useEffect(() => () => forget.current?.(), []);
  const saved = written(agent.draft);
  const [base, setBase] = useState({ source: saved, version: agent.version });
  const [source, setSource] = useState(saved);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<CanopyError>();
  const value = useMemo(() => parsed(source), [source]);
  const shown = useRef(value);
  if (value !== undefined) shown.current = value;
  const dirty = source !== base.source;
  const newer = agent.version !== base.version;
  useEffect(() => {
    if (!newer) return;
    // What changed is not the draft, or nothing is lost by taking it, or it is the same here.
    if (saved === base.source || saved === source) setBase({ source: saved, version: agent.version });
    else if (!dirty) {
      setBase({ source: saved, version: agent.version });
      setSource(saved);
    }
  }, [newer, saved, base.source, source, dirty, agent.version]);

  const write = (next: string) => {
    setSource(next);
    setError(undefined);
  };
  const save = async () => {
    if (busy || value === undefined) return;
    setBusy(true);
    setError(undefined);
    try {
      const { updateAgent } = await saveAgent({ input: { id: agent.id, diagram: value, ifVersion: base.version } });
      // What was typed meanwhile stays, and is not saved.
      setBase({ source: written(updateAgent!.agent.draft), version: updateAgent!.agent.version });
      setSource((now) => (now === source ? written(updateAgent!.agent.draft) : now));
      say(text.ui.saved);
    } catch (why) {
      if (!(why instanceof CanopyError)) throw why;
      if (why.reason === "changed") again();
      setError(why);
    } finally {
      setBusy(false);
    }
  };
  return {
    source, value, shown: shown.current, dirty, busy, error, write, save,
    theirs: newer && dirty && saved !== base.source && saved !== source ? saved : undefined,
    change: (edit) => {
      setError(undefined);
      // From what is written at that moment: what is taken back later is taken back from then.
      setSource((now) => {
        const value = parsed(now);
        return value === undefined ? now : written({ ...(isObject(value) ? value : {}), ...edit({ steps: stepsOf(value), output: outputOf(value) }) });
      });
    },
    reset: () => {
      setBase({ source: saved, version: agent.version });
      write(saved);
      forget.current = offer(text.agents.dropped, async () => {
        setBase(base);
        write(source);
      });
    },
    keepMine: () => {
      setBase({ source: saved, version: agent.version });
      setError(undefined);
    },
  };
}
