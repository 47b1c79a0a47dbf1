import { Button } from "@mantine/core";
import { Outlet, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useAsk } from "../graph/hooks";
import { usePages, useTop } from "../graph/pages";
import { useHeard } from "../graph/useHeard";
import { useText } from "../text";
import { Empty } from "../ui/Empty";
import "../ui/log.css";
import { PageHead } from "../ui/Page";
import { Problem } from "../ui/Problem";
import { Rows } from "../ui/Rows";
import { useSince } from "../ui/since";
import { When } from "../ui/When";
import type { AuditSearch } from "./address";
import { AuditFilters, failures } from "./AuditFilters";
import { AuditActions, AuditEvents, AuditEventTold } from "./operations.gql";
import { whoOf } from "./who";

/** What was done within reach, newest first, as it happens. */
export function Audit() {
  const { text } = useText();
  const navigate = useNavigate();
  const search: AuditSearch = useSearch({ from: "/inside/audit" });
  const { data, error, again } = useAsk(AuditActions, {});
  return (
    <div className="split broad">
      <div className="list">
        <PageHead title={text.operations.audit}><span className="live">{text.operations.live}</span></PageHead>
        <AuditFilters actions={data?.auditActions ?? []} search={search} change={(to) => navigate({ to: ".", search: { ...search, ...to }, replace: true })} />
        {error && !data ? <Problem error={error} again={again} /> : data && <List search={search} failed={failures(data.auditActions)} />}
      </div>
      <Outlet />
    </div>
  );
}

function List({ search, failed }: { search: AuditSearch; failed: readonly string[] }) {
  const { text } = useText();
  const navigate = useNavigate();
  const { eventId } = useParams({ strict: false });
  const { action, actor, kind, company, object, outcome, time, since, until } = search;
  const lately = useSince(time);
  const [objectType, objectId] = object?.split(":") ?? [];
  const filter = {
    action: action ?? null, actorId: actor ?? null, actorKind: kind ?? null, customerId: company ?? null, objectType: objectType ?? null, objectId: objectId ?? null,
    createdSince: since ?? lately, createdUntil: until ?? null, or: outcome ? failed.map((action) => ({ action })) : null,
  };
  const pages = usePages(AuditEvents, { filter }, ({ auditEvents }) => auditEvents);
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
        const event = pages.rows[index]!;
        const { action, objectType, objectId, createdAt, customer } = event;
        return (
          <>
            <span className="two">
              <span>{action}</span>
              <span className="quiet"><When at={createdAt} /> · {whoOf(event, text)} · {customer.name}</span>
            </span>
            <span className="quiet object">{objectType} {objectId}</span>
          </>
        );
      }}
    />
  );
}
