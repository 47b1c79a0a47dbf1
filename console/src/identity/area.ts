import { IconFingerprint } from "@tabler/icons-react";
import type { Area } from "../app/area";

export const identity: Area = {
  entries: [{ to: "/identity", label: (text) => text.identity.title, icon: IconFingerprint, needs: ["company.write"] }],
  places: [
    { to: "/identity/directories", label: (text) => text.identity.lists.directories, part: (text) => text.identity.title, needs: "key.read" },
  ],
  finders: [],
};
