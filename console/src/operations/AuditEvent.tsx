import { Anchor, Button, Code, Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useAsk } from "../graph/hooks";
import { useText } from "../text";
import { meaningOf } from "../text/meaning";
import { Empty } from "../ui/Empty";
import { Facts } from "../ui/Facts";
import { Problem } from "../ui/Problem";
import { SidePanel } from "../ui/SidePanel";
import { When } from "../ui/When";
import { CompanyLink } from "./CompanyLink";
import { AuditActions, AuditEvent as Ask, type AuditEventResult } from "./operations.gql";
import { whoOf } from "./who";

type Known = NonNullable<AuditEventResult["auditEvents"]>["nodes"][number];

// Where objects are shown, by their types.
const places: Record<string, string> = { Customer: "/companies", User: "/people", Context: "/contexts", ApiKey: "/keys", WebhookDestination: "/webhooks/destinations" };

/** One change: who made it, where, and what was before and after. */
export function AuditEvent() {
  const { text } = useText();
  const { eventId } = useParams({ from: "/inside/audit/$eventId" });
  const navigate = useNavigate();
  const { data, error, again } = useAsk(Ask, { ids: [eventId] });
  const { data: actions } = useAsk(AuditActions, {});
  const known = data?.auditEvents?.nodes[0];
  return (
    <SidePanel key={eventId} title={known?.action ?? text.operations.event} close={() => navigate({ to: "/audit", search: true })}>
      <Stack>
        <Problem error={error} again={again} />
        {!data && !error && <Skeleton height={200} />}
        {data?.auditEvents && !known && <Empty title={text.operations.eventGone} hint={text.operations.eventGoneHint} />}
        {known && <Text size="sm">{meaningOf(text, { type: known.action, description: actions?.auditActions.find(({ action }) => action === known.action)?.description ?? "" })}</Text>}
        {known && <Shown known={known} />}
      </Stack>
    </SidePanel>
  );
}

function Shown({ known }: { known: Known }) {
  const { databaseId, objectType, objectId, createdAt, clientId, details, actor, actorKind, customer } = known;
  const { text, format } = useText();
  const object = `${objectType} ${objectId}`;
  const place = places[objectType];
  return (
    <>
      <Facts of={[
        [text.operations.when, <span key="when">{format.exact(createdAt)} (<When at={createdAt} />)</span>],
        [text.operations.who, actor ? <Anchor key="who" component={Link} to={`/people/${actor.databaseId}`} size="sm" td="underline">{actor.email}</Anchor> : whoOf(known, text)],
        [text.operations.actorKind, text.operations.kinds[actorKind]],
        [text.operations.key, clientId ?? text.operations.noKey],
        [text.operations.company, <CompanyLink key="company" company={customer} />],
        [text.operations.object, place ? <Anchor key="object" component={Link} to={`${place}/${objectId}`} size="sm" td="underline">{object}</Anchor> : object],
        [text.operations.number, databaseId],
      ]} />
      <Group gap="xs">
        <Button size="xs" variant="default" component={Link} to={`/audit?object=${objectType}%3A${objectId}`}>{text.operations.allOfObject}</Button>
        {actor && <Button size="xs" variant="default" component={Link} to={`/audit?actor=${actor.databaseId}`}>{text.operations.allOfActor}</Button>}
        <Button size="xs" variant="default" component={Link} to={`/audit?company=${customer.databaseId}`}>{text.operations.allOfCompany}</Button>
      </Group>
      <Changes details={details as Record<string, Change>} />
    </>
  );
}

interface Change {
  old?: unknown;
  new?: unknown;
}

function Changes({ details }: { details: Record<string, Change> }) {
  const { text } = useText();
  const fields = Object.entries(details);
  // What nothing was before, as of a sign-in, is told and was not changed.
  const changed = fields.length === 0 || fields.some(([, change]) => isObject(change) && "old" in change);
  const title = changed ? text.operations.changes : text.operations.particulars;
  return (
    <Stack gap="xs" component="section" aria-label={title}>
      <Title order={3} size="h5">{title}</Title>
      {fields.length === 0 && <Text size="sm" c="dimmed">{text.operations.noChanges}</Text>}
      {fields.map(([field, change]) => (
        <div key={field}>
          <Text size="sm" fw={600}>{field}</Text>
          <Value word={text.operations.before} value={change} of="old" />
          <Value word={changed ? text.operations.after : undefined} value={change} of="new" />
        </div>
      ))}
    </Stack>
  );
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function Value({ word, value, of }: { word: string | undefined; value: Change; of: "old" | "new" }) {
  if (!isObject(value)) return of === "new" ? <Code>{JSON.stringify(value)}</Code> : null;
  if (!(of in value)) return null;
  return <Text size="sm">{word && <><span className="quiet">{word}</span>{" "}</>}<Code>{typeof value[of] === "string" ? value[of] : JSON.stringify(value[of])}</Code></Text>;
}
