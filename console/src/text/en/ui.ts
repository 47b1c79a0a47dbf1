/** Words of the parts that every area uses. */
export const ui = {
  tryAgain: "Try again",
  request: (id: string) => `Request ${id}`,
  broken: "The console has stopped",
  brokenHint: "Something in the console went wrong. Nothing that you have saved is lost.",
  reload: "Load it again",
  never: "never",
  justNow: "just now",
  close: "Close",
  cancel: "Cancel",
  save: "Save",
  saved: "Saved",
  edit: "Edit",
  copy: "Copy",
  copied: "Copied",
  loading: "Loading…",
  optional: "optional",
  noMatch: "Nothing fits",
  typeToConfirm: (name: string) => `Type “${name}” to go on`,
  yes: "Yes",
  no: "No",
  time: "Time",
  anyTime: "Any time",
  times: { hour: "Last hour", day: "Last 24 hours", week: "Last 7 days" },
};

/** What went wrong, in a few words. */
export const problems = {
  unreachable: "The platform can’t be reached",
  unavailable: "The platform is not available at the moment",
  rateLimited: (seconds: number | undefined) => (seconds ? `Too many requests. Try again in ${seconds} s.` : "Too many requests. Try again in a moment."),
  forbidden: "You are not allowed to do this",
  notFound: "This is not here",
  unauthenticated: "Your session has ended",
  tooLarge: "This is too large",
  badRequest: "This can’t be done",
  internal: "Something went wrong on the platform",
};
