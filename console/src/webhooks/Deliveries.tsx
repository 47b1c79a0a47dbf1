import { Button, Group, NativeSelect } from "@mantine/core";
import { Link, Outlet, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useAsk } from "../graph/hooks";
import { usePages, useTop } from "../graph/pages";
import { CompanyPill } from "../people/CompanyPill";
import { useText } from "../text";
import { Empty } from "../ui/Empty";
import { Problem } from "../ui/Problem";
import { Rows } from "../ui/Rows";
import { useSince } from "../ui/since";
import { TimeFilter } from "../ui/TimeFilter";
import { When } from "../ui/When";
import { useBase } from "./base";
import { Head } from "./Head";
import { type DeliveriesSearch, statuses } from "./address";
import { DeliveryState } from "./State";
import { useLive } from "./useLive";
import { Catalog, Deliveries as Ask, DestinationNames } from "./webhooks.gql";

// Of how many destinations the list hears by itself; of all others when it is asked for again.
const heard = 20;

const filter = { flex: "1 1 9rem", maw: "14rem" } as const;

/** What was sent and is to be sent, newest first, as it happens. */
export function Deliveries() {
  const { text } = useText();
  const base = useBase();
  const navigate = useNavigate();
  const search: DeliveriesSearch = useSearch({ strict: false });
  const { data: names } = useAsk(DestinationNames, { customerId: search.company ?? null });
  const { data: catalog } = useAsk(Catalog, { extended: true });
  const destinations = names?.webhookDestinations?.nodes ?? [];
  const change = (to: DeliveriesSearch) => navigate({ to: ".", search: { ...search, ...to }, replace: true });
  return (
    <div className="split broad">
      <div className="list">
        <Head at="deliveries"><span className="live">{text.webhooks.live}</span></Head>
        <Group gap="xs">
          <NativeSelect
            aria-label={text.webhooks.one} value={search.destination ?? ""} {...filter}
            data={[{ value: "", label: text.webhooks.anyDestination }, ...destinations.map(({ databaseId, name, url }) => ({ value: String(databaseId), label: name || url }))]}
            onChange={({ currentTarget: { value } }) => change({ destination: value === "" ? undefined : Number(value) })}
          />
          <NativeSelect
            aria-label={text.webhooks.status} value={search.status ?? ""} {...filter}
            data={[{ value: "", label: text.webhooks.anyStatus }, ...statuses.map((value) => ({ value, label: text.webhooks.statuses[value] }))]}
            onChange={({ currentTarget: { value } }) => change({ status: statuses.find((one) => one === value) })}
          />
          <NativeSelect
            aria-label={text.webhooks.type} value={search.type ?? ""} {...filter}
            data={[{ value: "", label: text.webhooks.anyType }, ...(catalog?.webhookCatalog.events ?? []).map(({ type }) => type)]}
            onChange={({ currentTarget: { value } }) => change({ type: value || undefined })}
          />
          <TimeFilter value={search.time} change={(time) => change({ time })} {...filter} />
          {search.company !== undefined && <CompanyPill id={search.company} back={text.webhooks.ownCompany} remove={() => navigate({ to: `${base}/deliveries` })} />}
        </Group>
        <List search={search} ids={destinations.slice(0, heard).map(({ databaseId }) => databaseId)} />
      </div>
      <Outlet />
    </div>
  );
}

function List({ search, ids }: { search: DeliveriesSearch; ids: readonly number[] }) {
  const { text } = useText();
  const base = useBase();
  const navigate = useNavigate();
  const { deliveryId } = useParams({ strict: false });
  const { company, destination, status, type, time } = search;
  const createdSince = useSince(time);
  const pages = usePages(
    Ask,
    { customerId: company ?? null, filter: { destinationId: destination ?? null, status: status ?? null, type: type ?? null, createdSince } },
    ({ webhookDeliveries }) => webhookDeliveries,
  );
  const { onShow, freshen } = useTop(pages);
  useLive((destination === undefined ? ids : [destination]).map(String), freshen);
  if (pages.error) return <Problem error={pages.error} again={() => pages.retry()} />;
  if (pages.known && pages.rows.length === 0) {
    return destination || status || type || time
      ? <Empty title={text.webhooks.noneFound} hint={text.webhooks.noneFoundHint} action={<Button variant="default" onClick={() => navigate({ to: ".", search: { company }, replace: true })}>{text.webhooks.clear}</Button>} />
      : <Empty title={text.webhooks.noDeliveries} hint={text.webhooks.noDeliveriesHint} action={<Button variant="default" component={Link} to={`${base}/destinations`}>{text.webhooks.toDestinations}</Button>} />;
  }
  return (
    <Rows
      label={text.webhooks.lists.deliveries} count={pages.rows.length} more={pages.more} onShow={onShow} height={60}
      keyOf={(index) => pages.rows[index]!.id}
      onOpen={(index) => navigate({ to: `${base}/deliveries/$deliveryId`, params: { deliveryId: String(pages.rows[index]!.databaseId) }, search: true })}
      isOpen={(index) => String(pages.rows[index]!.databaseId) === deliveryId}
      render={(index) => {
        const { type, test, destination, createdAt, httpStatus, status } = pages.rows[index]!;
        return (
          <>
            <span className="two">
              <span>{type}{test && <span className="quiet"> · {text.webhooks.isTest}</span>}</span>
              <span className="quiet"><When at={createdAt} /> · {destination ? destination.name || destination.url : text.webhooks.destinationGone}</span>
            </span>
            <span className="quiet answer">{httpStatus}</span>
            <DeliveryState status={status} />
          </>
        );
      }}
    />
  );
}
