import { IconPlayerPlay, IconRobot } from "@tabler/icons-react";
import { type Area, finder } from "../app/area";
import { FindAgents, FindRuns } from "./agents.gql";

export const agents: Area = {
  entries: [{ to: "/agents", label: (text) => text.agents.title, icon: IconRobot, needs: ["agent.read"] }],
  places: [
    { to: "/agents/runs", label: (text) => text.agents.lists.runs, part: (text) => text.agents.title, needs: "agent.read" },
    { to: "/agents/secrets", label: (text) => text.agents.lists.secrets, part: (text) => text.agents.title, needs: "agent.read" },
  ],
  finders: [
    finder({
      needs: "agent.read",
      icon: IconRobot,
      document: FindAgents,
      hits: ({ search }) => search.flatMap((hit) => ("agentName" in hit ? { to: `/agents/${hit.databaseId}`, title: hit.agentName, detail: hit.account?.customer.name ?? "" } : [])),
    }),
    finder({
      needs: "agent.read",
      icon: IconPlayerPlay,
      document: FindRuns,
      hits: ({ search }) => search.flatMap((hit) => ("jobKey" in hit ? { to: `/agents/runs/${hit.jobKey}`, title: hit.agent?.name ?? hit.jobKey, detail: hit.jobKey } : [])),
    }),
  ],
};
