import { IconShieldCheck, IconUser, IconUsers } from "@tabler/icons-react";
import { type Area, finder } from "../app/area";
import { FindPeople } from "./people.gql";

export const people: Area = {
  entries: [
    { to: "/people", label: (text) => text.people.title, icon: IconUsers, needs: ["user.read"] },
    { to: "/roles", label: (text) => text.people.roles, icon: IconShieldCheck, needs: ["permission.read"] },
  ],
  places: [
    { to: "/people/invite", label: (text) => text.people.invite, part: (text) => text.people.title, needs: "user.write" },
    { to: "/people/invitations", label: (text) => text.people.invitations, part: (text) => text.people.title, needs: "user.read" },
    { to: "/roles/new", label: (text) => text.people.newRole, part: (text) => text.people.roles, needs: "permission.write" },
  ],
  finders: [
    finder({
      needs: "user.read",
      icon: IconUser,
      document: FindPeople,
      hits: ({ search }) => search.flatMap((hit) => ("email" in hit ? { to: `/people/${hit.databaseId}`, title: hit.name || hit.email, detail: hit.email } : [])),
    }),
  ],
};
