import { Button, Group } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { Link, Outlet, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import { usePages } from "../graph/pages";
import { useMe } from "../session/rights";
import { CompanyPill } from "../people/CompanyPill";
import { useText } from "../text";
import { Empty } from "../ui/Empty";
import { MoreLinks } from "../ui/MoreLinks";
import { Problem } from "../ui/Problem";
import { Rows } from "../ui/Rows";
import { When } from "../ui/When";
import { useBase } from "./base";
import { Head } from "./Head";
import type { DestinationsSearch } from "./address";
import { State, stateOf } from "./State";
import { DayAgo, useDayAgo } from "../ui/since";
import { Destinations as Ask } from "./webhooks.gql";

/** Where a company has its events delivered to, with how that goes. */
export function Destinations() {
  const { text } = useText();
  const me = useMe();
  const base = useBase();
  const navigate = useNavigate();
  const search: DestinationsSearch = useSearch({ strict: false });
  const since = useDayAgo();
  const more = [
    ...(base === "/webhooks" && me.can("key.write") ? [{ to: "/webhooks/destinations/portal-link", label: text.webhooks.portalLink.title, button: true }] : []),
    ...(me.can("webhook.write") ? [{ to: `${base}/destinations/deleted`, label: text.ui.recentlyDeleted }] : []),
  ];
  return (
    <div className="split broad">
      <div className="list">
        <Head at="destinations">
          <MoreLinks of={more} />
          {me.can("webhook.write") && <Add>{text.webhooks.add}</Add>}
        </Head>
        {search.company !== undefined && <Group><CompanyPill id={search.company} back={text.webhooks.ownCompany} remove={() => navigate({ to: `${base}/destinations` })} /></Group>}
        <List company={search.company} since={since} />
      </div>
      <DayAgo value={since}><Outlet /></DayAgo>
    </div>
  );
}

function Add({ children }: { children: string }) {
  const base = useBase();
  return (
    <Button renderRoot={(props) => <Link to={`${base}/destinations/new`} search={true} {...props} />} leftSection={<IconPlus size={16} aria-hidden />}>{children}</Button>
  );
}

function List({ company, since }: { company: number | undefined; since: string }) {
  const { text, format } = useText();
  const me = useMe();
  const base = useBase();
  const navigate = useNavigate();
  const { destinationId } = useParams({ strict: false });
  const pages = usePages(Ask, { customerId: company ?? null, since }, ({ webhookDestinations }) => webhookDestinations);
  const onShow = useCallback((first: number, last: number) => pages.show(first, last), [pages]);
  if (pages.error) return <Problem error={pages.error} again={() => pages.retry()} />;
  if (pages.known && pages.rows.length === 0) {
    return <Empty title={text.webhooks.none} hint={text.webhooks.noneHint} action={me.can("webhook.write") && <Add>{text.webhooks.addFirst}</Add>} />;
  }
  return (
    <Rows
      label={text.webhooks.lists.destinations} count={pages.rows.length} more={pages.more} onShow={onShow} height={60}
      keyOf={(index) => pages.rows[index]!.id}
      onOpen={(index) => navigate({ to: `${base}/destinations/$destinationId`, params: { destinationId: String(pages.rows[index]!.databaseId) }, search: true })}
      isOpen={(index) => String(pages.rows[index]!.databaseId) === destinationId}
      render={(index) => {
        const row = pages.rows[index]!;
        const { totalCount, totalCountCapped } = row.lost;
        const latest = row.latest.nodes[0];
        return (
          <>
            <span className="two">
              <span>{row.name || row.url}</span>
              <span className="quiet">
                {latest ? <When at={latest.createdAt} /> : text.webhooks.nothingSent}
                {totalCount > 0 && <> · {text.webhooks.lostToday(totalCountCapped ? text.webhooks.over(format.number(totalCount)) : format.number(totalCount))}</>}
                {row.name && <> · {row.url}</>}
              </span>
            </span>
            <State state={stateOf(row, latest?.status)} />
          </>
        );
      }}
    />
  );
}
