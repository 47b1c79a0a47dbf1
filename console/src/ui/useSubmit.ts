import { CanopyError } from "canopy-client";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { useText } from "../text";
import { faultIn } from "./Problem";
import { sent } from "./unsaved";

export interface Submit {
  /** For the form. */
  onSubmit: (event?: FormEvent) => void;
  busy: boolean;
  /** Why it did not work. */
  error: CanopyError | undefined;
  /** What is wrong with one field, by its name in the request. */
  fault: (field: string) => string | undefined;
  /** What of the error no field shows; fields are those that the form has. */
  rest: (...fields: string[]) => CanopyError | undefined;
}

/** Sends a form: one at a time, with what is wrong beside the field that it is about. */
export function useSubmit(work: () => Promise<void>): Submit {
  const { text } = useText();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<CanopyError>();
  const under = useRef(false);
  const form = useRef<HTMLElement>(undefined);
  // Who has sent it hears of the first field that is wrong, and sees it wherever it stands.
  useEffect(() => {
    if (error) form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [error]);
  const fault = (field: string) => {
    const said = error?.faults.find(({ location }) => location.split(".").at(-1) === field)?.message;
    const message = said && (faultIn(text, said) ?? said);
    return message && message.charAt(0).toUpperCase() + message.slice(1);
  };
  return {
    busy,
    error,
    fault,
    rest: (...fields) => (error && !fields.some((field) => fault(field)) ? error : undefined),
    onSubmit: async (event) => {
      event?.preventDefault();
      form.current = event?.currentTarget as HTMLElement | undefined;
      if (under.current) return;
      under.current = true;
      setBusy(true);
      setError(undefined);
      try {
        await work();
        sent(form.current);
      } catch (why) {
        if (!(why instanceof CanopyError)) throw why;
        setError(why);
      } finally {
        under.current = false;
        setBusy(false);
      }
    },
  };
}
