import type { Area } from "../app/area";
import { sections } from "./sections";

/** One's own settings, which stand in the menu of the account. */
export const profile: Area = {
  entries: [],
  places: [
    { to: "/profile", label: (text) => text.session.profile, part: (text) => text.app.account },
    ...sections.map(({ id, label }) => ({ to: `/profile#${id}`, label, part: ({ session }: Parameters<typeof label>[0]) => session.profile })),
  ],
  finders: [],
};
