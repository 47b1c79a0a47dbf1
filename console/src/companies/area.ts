import { IconBuilding, IconBuildingCommunity } from "@tabler/icons-react";
import { type Area, finder } from "../app/area";
import { FindCompanies } from "./companies.gql";

export const companies: Area = {
  entries: [{ to: "/companies", label: (text) => text.companies.title, icon: IconBuildingCommunity, needs: ["company.read"] }],
  places: [
    { to: ({ customer }) => `/companies/${customer.databaseId}`, label: (text) => text.companies.settings, part: (text) => text.companies.own, needs: "company.read" },
    { to: ({ customer }) => `/companies/${customer.databaseId}/new`, label: (text) => text.companies.create, part: (text) => text.companies.title, needs: "company.create" },
    { to: "/companies/deleted", label: (text) => text.ui.recentlyDeleted, part: (text) => text.companies.title, needs: "company.write" },
    { to: ({ customer }) => `/companies/${customer.databaseId}/usage`, label: (text) => text.companies.usage, part: (text) => text.companies.own, needs: "company.read" },
    { to: ({ customer }) => `/companies/${customer.databaseId}/billing`, label: (text) => text.companies.billing, part: (text) => text.companies.own, needs: "billing.read" },
  ],
  finders: [
    finder({
      needs: "company.read",
      icon: IconBuilding,
      document: FindCompanies,
      hits: ({ search }) => search.flatMap((hit) => ("path" in hit ? { to: `/companies/${hit.databaseId}`, title: hit.name, detail: hit.path } : [])),
    }),
  ],
};
