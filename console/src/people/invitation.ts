import type { Invitee } from "./parse";

/** A role on an account, to be given to everybody who is invited. */
export interface Gift {
  accountId: string;
  roleId: string;
  /** What it is called: the role and the application. */
  name: string;
}

/** What became of one of those who were to be invited. */
export interface Outcome {
  who: Invitee;
  /** Who they are, once they are invited. */
  userId: string | undefined;
  personId: number | undefined;
  /** Why they could not be invited. */
  why: string | undefined;
  /** What they were given by now. */
  given: readonly Gift[];
  /** What they were to be given and have not got, and why; nothing as long as it was not tried. */
  missing: readonly { gift: Gift; why: string }[];
}

/** One permission that is to be given. */
export interface Due {
  userId: string;
  gift: Gift;
}

/** All that those who were invited were to be given and have not got. */
export function dueOf(outcomes: readonly Outcome[]): Due[] {
  return outcomes.flatMap(({ userId, missing }) => (userId === undefined ? [] : missing.map(({ gift }) => ({ userId, gift }))));
}

/** Writes down what became of permissions: each that has no reason beside it was given. */
export function noted(outcomes: readonly Outcome[], told: readonly (Due & { why: string | undefined })[]): Outcome[] {
  return outcomes.map((one) => {
    const mine = told.filter(({ userId }) => userId === one.userId);
    const tried = (gift: Gift) => mine.some((due) => due.gift.accountId === gift.accountId);
    return {
      ...one,
      given: [...one.given, ...mine.flatMap(({ gift, why }) => (why === undefined ? [gift] : []))],
      missing: [...one.missing.filter(({ gift }) => !tried(gift)), ...mine.flatMap(({ gift, why }) => (why === undefined ? [] : [{ gift, why }]))],
    };
  });
}
