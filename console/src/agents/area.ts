import { IconPlayerPlay, IconRobot } from "@tabler/icons-react";
import { type Area, finder, type Hit } from "../app/area";
import type { Text } from "../text";
import { statuses } from "./address";
import { FindAgents, FindRuns } from "./agents.gql";

/** A run goes by its agent, and is told from others by its state and key. */
function runHit({ jobKey, status }: { jobKey: string; status: (typeof statuses)[number] }, agent: string | undefined, { agents }: Text): Hit {
  return { to: `/agents/runs/${jobKey}`, title: agent ? `${agents.run}: ${agent}` : agents.run, detail: `${agents.statuses[status]} · ${jobKey}`, icon: IconPlayerPlay };
}

export const agents: Area = {
  entries: [{ to: "/agents", label: (text) => text.agents.title, icon: IconRobot, needs: ["agent.read"] }],
  places: [
    { to: "/agents/runs", label: (text) => text.agents.lists.runs, part: (text) => text.agents.title, needs: "agent.read" },
    ...statuses.map((status) => ({
      to: `/agents/runs?status=${status}`, label: ({ agents }: Text) => `${agents.lists.runs}: ${agents.statuses[status]}`, part: (text: Text) => text.agents.title, needs: "agent.read" as const,
    })),
    { to: "/agents/new", label: (text) => text.agents.create, part: (text) => text.agents.title, needs: "agent.write" },
    { to: "/agents/secrets/deleted", label: (text) => text.ui.recentlyDeleted, part: (text) => text.agents.lists.secrets, needs: "agent.write" },
    { to: "/agents/secrets", label: (text) => text.agents.lists.secrets, part: (text) => text.agents.title, needs: "agent.write" },
  ],
  finders: [
    finder({
      needs: "agent.read",
      icon: IconRobot,
      document: FindAgents,
      hits: ({ search }, text) => {
        const agents = search.flatMap((hit) => ("agentName" in hit ? hit : []));
        return [
          ...agents.map(({ databaseId, agentName, account }) => ({ to: `/agents/${databaseId}`, title: agentName, detail: account?.customer.name ?? "" })),
          ...agents.flatMap(({ agentName, lastRuns }) => lastRuns.nodes.map((run) => runHit(run, agentName, text))),
        ];
      },
    }),
    finder({
      needs: "agent.read",
      icon: IconPlayerPlay,
      document: FindRuns,
      hits: ({ search }, text) => search.flatMap((hit) => ("jobKey" in hit ? runHit(hit, hit.agent?.name, text) : [])),
    }),
  ],
};
