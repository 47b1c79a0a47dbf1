import { IconKey } from "@tabler/icons-react";
import type { Area } from "../app/area";

export const keys: Area = {
  entries: [{ to: "/keys", label: (text) => text.keys.title, icon: IconKey, needs: ["key.read"] }],
  places: [{ to: "/keys/new", label: (text) => text.keys.create, part: (text) => text.keys.title, needs: "key.write" }],
  finders: [],
};
