import type { Area } from "../app/area";

/** One's own settings, which stand in the menu of the account. */
export const profile: Area = {
  entries: [],
  places: [{ to: "/profile", label: (text) => text.session.profile, part: ({ session }) => [session.sessions, session.twoFactor, session.changePassword, session.companies, session.erase].join(", ") }],
  finders: [],
};
