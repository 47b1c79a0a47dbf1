import { IconBooks, IconFileText } from "@tabler/icons-react";
import { type Area, finder } from "../app/area";
import { FindContexts, FindDocuments } from "./contexts.gql";

export const contexts: Area = {
  entries: [{ to: "/contexts", label: (text) => text.contexts.title, icon: IconBooks, needs: ["context.read"] }],
  places: [
    { to: "/contexts/new", label: (text) => text.contexts.create, part: (text) => text.contexts.title, needs: "context.write" },
    { to: "/contexts/deleted", label: (text) => text.ui.recentlyDeleted, part: (text) => text.contexts.title, needs: "context.write" },
  ],
  finders: [
    finder({
      needs: "context.read",
      icon: IconBooks,
      document: FindContexts,
      hits: ({ search }) => search.flatMap((hit) => ("caption" in hit ? { to: `/contexts/${hit.databaseId}`, title: hit.name, detail: hit.caption } : [])),
    }),
    finder({
      needs: "context.read",
      icon: IconFileText,
      document: FindDocuments,
      hits: ({ search }) => search.flatMap((hit) => (
        "displayName" in hit ? { to: `/contexts/${hit.context.databaseId}/documents/${hit.databaseId}`, title: hit.displayName, detail: hit.context.name } : []
      )),
    }),
  ],
};
