import { Anchor } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { useAsk } from "../graph/hooks";
import { useText } from "../text";
import { Chart } from "../ui/Chart";
import { When } from "../ui/When";
import { useBase } from "./base";
import { LastDay as Ask, type LastDayResult } from "./webhooks.gql";

type Delivery = NonNullable<LastDayResult["webhookDestination"]>["deliveries"]["nodes"][number];

const at = ({ createdAt }: Delivery) => Date.parse(createdAt);
const lasted = ({ attemptLog }: Delivery) => attemptLog.at(-1)?.durationMs ?? null;
const lost = ({ status }: Delivery) => status === "failed" || status === "blocked";

/** How long the last attempts of the day's newest deliveries took, those that got through apart from those that did not. */
export function LastDay({ id, since }: { id: string; since: string }) {
  const { text, format } = useText();
  const base = useBase();
  const { data } = useAsk(Ask, { id, since });
  const rows = data?.webhookDestination?.deliveries.nodes;
  const drawn = useMemo(() => ({
    series: [
      { name: text.webhooks.statuses.delivered, of: (one: Delivery) => (one.status === "delivered" ? lasted(one) : null) },
      { name: text.webhooks.lost, of: (one: Delivery) => (lost(one) ? lasted(one) : null) },
    ],
    write: (ms: number) => text.webhooks.ms(format.number(Math.round(ms))),
  }), [text, format]);
  if (!rows || rows.length < 2) return null;
  return (
    <Chart
      label={text.webhooks.drawn(format.number(rows.length))} rows={rows} at={at} {...drawn}
      table={{
        keyOf: (one) => one.id,
        columns: [
          { title: text.webhooks.drawnType, by: ({ type }) => type, cell: ({ databaseId, type }) => <Anchor component={Link} to={`${base}/deliveries/${databaseId}`} size="sm" td="underline">{type}</Anchor> },
          { title: text.webhooks.drawnAt, by: ({ createdAt }) => createdAt, cell: ({ createdAt }) => <When at={createdAt} /> },
          { title: text.webhooks.status, by: ({ status }) => text.webhooks.statuses[status], cell: ({ status }) => text.webhooks.statuses[status] },
          { title: text.webhooks.drawnTook, by: lasted, cell: (one) => (lasted(one) === null ? "–" : drawn.write(lasted(one)!)) },
        ],
      }}
    />
  );
}
