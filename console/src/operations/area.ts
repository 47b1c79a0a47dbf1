import { IconActivityHeartbeat, IconHistory } from "@tabler/icons-react";
import type { Area } from "../app/area";

export const operations: Area = {
  entries: [
    { to: "/audit", label: (text) => text.operations.audit, icon: IconHistory, needs: ["audit.read"] },
    { to: "/operations", label: (text) => text.operations.title, icon: IconActivityHeartbeat, needs: ["audit.read"], ofRoot: true },
  ],
  finders: [],
};
