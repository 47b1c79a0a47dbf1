import { Group, Skeleton, Stack, Table, Text, Title } from "@mantine/core";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useAsk } from "../graph/hooks";
import { useText } from "../text";
import { meaningOf } from "../text/meaning";
import { CopyText } from "../ui/CopyText";
import { Problem } from "../ui/Problem";
import { SidePanel } from "../ui/SidePanel";
import { useBase } from "./base";
import { Catalog, type CatalogResult } from "./webhooks.gql";

type Type = CatalogResult["webhookCatalog"]["events"][number];

/** One type of event: when it comes, and what is in it. */
export function Event() {
  const { text } = useText();
  const base = useBase();
  const navigate = useNavigate();
  const { eventType } = useParams({ strict: false });
  const { data, error, again } = useAsk(Catalog, { extended: true });
  const type = data?.webhookCatalog.events.find((one) => one.type === eventType);
  return (
    <SidePanel key={eventType} title={eventType!} close={() => navigate({ to: `${base}/events`, search: true })}>
      <Stack>
        <Problem error={error} again={again} />
        {type ? <Shown type={type} version={data!.webhookCatalog.version} /> : !error && (data ? <Text c="dimmed">{text.webhooks.noEvent}</Text> : <Skeleton height={200} />)}
      </Stack>
    </SidePanel>
  );
}

interface Schema {
  properties?: Record<string, { type?: string | string[]; format?: string; description?: string }>;
  required?: string[];
}

function Shown({ type: { type, category, description, example, schema }, version }: { type: Type; version: string }) {
  const { text } = useText();
  const { properties = {}, required = [] } = schema as Schema;
  // What the platform makes anew for each event stands for itself.
  const body = JSON.stringify({ id: "evt_…", version, type, event_category: category, timestamp: "2026-03-01T12:04:05.678Z", data: example }, null, 2);
  const exact = JSON.stringify(schema, null, 2);
  return (
    <>
      <Text size="sm">{meaningOf(text, { type, description })}</Text>
      <Part title={text.webhooks.example} of={body} />
      <Stack gap="xs" component="section" aria-label={text.webhooks.data}>
        <Title order={3} size="h5">{text.webhooks.data}</Title>
        <Table.ScrollContainer minWidth={0} scrollAreaProps={{ tabIndex: 0 }}>
          <Table>
            <Table.Thead><Table.Tr><Table.Th>{text.webhooks.field}</Table.Th><Table.Th>{text.webhooks.fieldType}</Table.Th><Table.Th>{text.webhooks.meaning}</Table.Th></Table.Tr></Table.Thead>
            <Table.Tbody>
              {Object.entries(properties).map(([name, { type: kind, format, description: meaning }]) => (
                <Table.Tr key={name}>
                  <Table.Td>{name}{!required.includes(name) && <> ({text.ui.optional})</>}</Table.Td>
                  <Table.Td>{[kind].flat().join(" | ")}{format && `, ${format}`}</Table.Td>
                  <Table.Td>{text.eventFields[name] ?? meaning}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      </Stack>
      <Part title={text.webhooks.schema} of={exact} />
    </>
  );
}

function Part({ title, of }: { title: string; of: string }) {
  return (
    <Stack gap="xs" component="section" aria-label={title}>
      <Group justify="space-between"><Title order={3} size="h5">{title}</Title><CopyText value={of} /></Group>
      <pre className="wire" tabIndex={0} aria-label={title}>{of}</pre>
    </Stack>
  );
}
