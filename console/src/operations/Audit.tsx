import { Button, Group, NativeSelect, Pill } from "@mantine/core";
import "@mantine/core/styles/Pill.css";
import { Outlet, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useAsk } from "../graph/hooks";
import { usePages, useTop } from "../graph/pages";
import { useHeard } from "../graph/useHeard";
import { CompanyName } from "../people/people.gql";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { Empty } from "../ui/Empty";
import "../ui/log.css";
import { PageHead } from "../ui/Page";
import { Problem } from "../ui/Problem";
import { Rows } from "../ui/Rows";
import { useSince } from "../ui/since";
import { TimeFilter } from "../ui/TimeFilter";
import { When } from "../ui/When";
import { Actor, AuditActions, AuditEvents, AuditEventTold } from "./operations.gql";
import { type AuditSearch } from "./address";

const filter = { flex: "1 1 9rem", maw: "16rem" } as const;

/** What was done within reach, newest first, as it happens. */
export function Audit() {
  const { text } = useText();
  const me = useMe();
  const navigate = useNavigate();
  const search: AuditSearch = useSearch({ from: "/inside/audit" });
  const { data } = useAsk(AuditActions, {});
  const change = (to: AuditSearch) => navigate({ to: ".", search: { ...search, ...to }, replace: true });
  return (
    <div className="split broad">
      <div className="list">
        <PageHead title={text.operations.audit}><span className="live">{text.operations.live}</span></PageHead>
        <Group gap="xs">
          <NativeSelect
            aria-label={text.operations.action} value={search.action ?? ""} {...filter}
            data={[{ value: "", label: text.operations.anyAction }, ...(data?.auditActions ?? []).map(({ action }) => action)]}
            onChange={({ currentTarget: { value } }) => change({ action: value || undefined })}
          />
          <TimeFilter value={search.time} change={(time) => change({ time })} {...filter} />
          {search.company === undefined && <Button variant="default" onClick={() => change({ company: me.customer.databaseId })}>{text.operations.only(me.customer.name)}</Button>}
          {search.company !== undefined && <CompanyPill id={search.company} remove={() => change({ company: undefined })} />}
          {search.actor !== undefined && <ActorPill id={search.actor} remove={() => change({ actor: undefined })} />}
          {search.object !== undefined && <Only label={search.object.replace(":", " ")} away={text.operations.anyObject} remove={() => change({ object: undefined })} />}
        </Group>
        <List search={search} />
      </div>
      <Outlet />
    </div>
  );
}

function Only({ label, away, remove }: { label: string; away: string; remove: () => void }) {
  return <Pill size="lg" withRemoveButton onRemove={remove} removeButtonProps={{ "aria-label": away, "aria-hidden": false, tabIndex: 0 }}>{label}</Pill>;
}

function CompanyPill({ id, remove }: { id: number; remove: () => void }) {
  const { text } = useText();
  const { data } = useAsk(CompanyName, { id });
  return <Only label={text.people.company(data?.customer?.name ?? String(id))} away={text.people.anyCompany} remove={remove} />;
}

function ActorPill({ id, remove }: { id: number; remove: () => void }) {
  const { text } = useText();
  const { data } = useAsk(Actor, { id });
  return <Only label={text.operations.byWhom(data?.user?.email ?? String(id))} away={text.operations.anybody} remove={remove} />;
}

function List({ search }: { search: AuditSearch }) {
  const { text } = useText();
  const navigate = useNavigate();
  const { eventId } = useParams({ strict: false });
  const { action, actor, company, object, time } = search;
  const createdSince = useSince(time);
  const [objectType, objectId] = object?.split(":") ?? [];
  const pages = usePages(
    AuditEvents,
    { filter: { action: action ?? null, actorId: actor ?? null, customerId: company ?? null, objectType: objectType ?? null, objectId: objectId ?? null, createdSince } },
    ({ auditEvents }) => auditEvents,
  );
  const { onShow, freshen } = useTop(pages);
  useHeard(AuditEventTold, [{}], freshen);
  if (pages.error) return <Problem error={pages.error} again={() => pages.retry()} />;
  if (pages.known && pages.rows.length === 0) {
    return <Empty title={text.operations.noEvents} hint={text.operations.noEventsHint} action={<Button variant="default" onClick={() => navigate({ to: ".", search: {}, replace: true })}>{text.operations.clear}</Button>} />;
  }
  return (
    <Rows
      label={text.operations.audit} count={pages.rows.length} more={pages.more} onShow={onShow} height={60}
      keyOf={(index) => pages.rows[index]!.id}
      onOpen={(index) => navigate({ to: "/audit/$eventId", params: { eventId: String(pages.rows[index]!.databaseId) }, search: true })}
      isOpen={(index) => String(pages.rows[index]!.databaseId) === eventId}
      render={(index) => {
        const { action, objectType, objectId, createdAt, actor, customer } = pages.rows[index]!;
        return (
          <>
            <span className="two">
              <span>{action}</span>
              <span className="quiet"><When at={createdAt} /> · {actor?.email ?? text.operations.platform} · {customer.name}</span>
            </span>
            <span className="quiet object">{objectType} {objectId}</span>
          </>
        );
      }}
    />
  );
}
