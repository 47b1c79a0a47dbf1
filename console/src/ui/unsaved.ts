import { type FormEvent, useEffect } from "react";

// What was typed into forms and not sent, as long as they are there, and what else is not saved.
const typed = new Set<Element>();
const drafts = new Set<object>();
const listeners = new Set<() => void>();

/** Tells whether there is something on the screen that would be lost with it. */
export function unsaved(): boolean {
  for (const form of typed) if (!form.isConnected) typed.delete(form);
  return typed.size + drafts.size > 0;
}

export function watchUnsaved(tell: () => void): () => void {
  listeners.add(tell);
  return () => listeners.delete(tell);
}

/** Has what depends on it look again, as a screen was left. */
export function lookAgain(): void {
  listeners.forEach((tell) => tell());
}

/** Takes note of what is typed into a form. What is looked for is no loss, nor what a form says is passing. */
export function onTyped({ target }: FormEvent): void {
  const form = (target as Element).closest("form");
  if (form && !form.matches("[role=search], [data-passing]")) typed.add(form);
}

/** A form was sent, and nothing of it is left to lose. */
export function sent(form: Element | undefined): void {
  if (form && typed.delete(form)) lookAgain();
}

/** Says that what is shown holds something that is not saved. */
export function useUnsaved(dirty: boolean): void {
  useEffect(() => {
    if (!dirty) return;
    const draft = {};
    drafts.add(draft);
    return () => {
      drafts.delete(draft);
      lookAgain();
    };
  }, [dirty]);
}
