import { Button, Skeleton } from "@mantine/core";
import { Outlet, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { useAsk } from "../graph/hooks";
import { useText } from "../text";
import { meaningOf } from "../text/meaning";
import { Empty } from "../ui/Empty";
import { FindBox } from "../ui/FindBox";
import { Problem } from "../ui/Problem";
import { Rows } from "../ui/Rows";
import { useBase } from "./base";
import { Head } from "./Head";
import type { EventsSearch } from "./address";
import { Catalog } from "./webhooks.gql";

const nothing = () => undefined;

/** The types of events, with what each tells of. */
export function Events() {
  const { text } = useText();
  const base = useBase();
  const navigate = useNavigate();
  const { eventType } = useParams({ strict: false });
  const { find }: EventsSearch = useSearch({ strict: false });
  const { data, error, again } = useAsk(Catalog, { extended: true });
  const shown = useMemo(() => {
    const words = (find ?? "").trim().toLowerCase();
    return data?.webhookCatalog.events.map((one) => ({ type: one.type, meaning: meaningOf(text, one) })).filter(({ type, meaning }) => `${type} ${meaning}`.toLowerCase().includes(words));
  }, [data, find, text]);
  return (
    <div className="split broad">
      <div className="list">
        <Head at="events" />
        <FindBox label={text.webhooks.eventsFind} value={find} change={(find) => navigate({ to: ".", search: { find }, replace: true })} />
        <Problem error={error} again={again} />
        {!shown && !error && <Skeleton height={300} />}
        {shown?.length === 0 && <Empty title={text.webhooks.noEvent} hint={text.webhooks.noEventHint} action={<Button variant="default" onClick={() => navigate({ to: ".", search: {}, replace: true })}>{text.webhooks.clear}</Button>} />}
        {shown && shown.length > 0 && (
          <Rows
            label={text.webhooks.lists.events} count={shown.length} more={false} onShow={nothing} height={60}
            keyOf={(index) => shown[index]!.type}
            onOpen={(index) => navigate({ to: `${base}/events/$eventType`, params: { eventType: shown[index]!.type }, search: true })}
            isOpen={(index) => shown[index]!.type === eventType}
            render={(index) => (
              <span className="two">
                <span>{shown[index]!.type}</span>
                <span className="quiet">{shown[index]!.meaning}</span>
              </span>
            )}
          />
        )}
      </div>
      <Outlet />
    </div>
  );
}
