import { Anchor, Button, Card, Group, List, Text, ThemeIcon, Title } from "@mantine/core";
import "@mantine/core/styles/ThemeIcon.css";
import { useLocalStorage } from "@mantine/hooks";
import { IconCheck, IconCircleDashed } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import type { TypedDocument } from "canopy-client";
import { useAsk } from "../graph/hooks";
import { type Right, useMe } from "../session/rights";
import { useText } from "../text";
import { HasAgents, HasCompanies, HasDestinations, HasDocuments, HasKeys, HasPeople } from "./firststeps.gql";

type Name = "companies" | "people" | "documents" | "agents" | "destinations" | "keys";

interface Way {
  name: Name;
  /** Who can take the step. */
  needs: Right;
  to: string;
  document: TypedDocument<never, object>;
  done: (result: never) => boolean;
}

/** Makes a step of a document that knows its types. */
function way<R>(of: Omit<Way, "document" | "done"> & { document: TypedDocument<R, object>; done: (result: R) => boolean }): Way {
  return of as unknown as Way;
}

const ways: readonly Way[] = [
  way({ name: "companies", needs: "company.create", to: "/companies", document: HasCompanies, done: ({ me }) => me.customer.children.nodes.length > 0 }),
  way({ name: "people", needs: "user.write", to: "/people/invite", document: HasPeople, done: ({ users }) => users.nodes.length > 1 }),
  way({ name: "documents", needs: "context.write", to: "/contexts", document: HasDocuments, done: ({ documents }) => Boolean(documents?.nodes.length) }),
  way({ name: "agents", needs: "agent.write", to: "/agents/new", document: HasAgents, done: ({ runs }) => Boolean(runs?.nodes.length) }),
  way({ name: "destinations", needs: "webhook.write", to: "/webhooks/destinations", document: HasDestinations, done: ({ webhookDestinations }) => Boolean(webhookDestinations?.nodes.length) }),
  way({ name: "keys", needs: "key.write", to: "/keys", document: HasKeys, done: ({ me }) => me.customer.apiKeys.nodes.length > 0 }),
];

/** What somebody who is new does first, what of it the company has by now, whoever did it, and whether they have a second factor themselves. */
export function FirstSteps() {
  const { text } = useText();
  const me = useMe();
  const [hidden, setHidden] = useLocalStorage({ key: "canopy-first-steps", defaultValue: "", getInitialValueInEffect: false });
  const mine = ways.filter(({ needs }) => me.can(needs));
  if (mine.length === 0) return null;
  if (hidden) return <Button w="fit-content" variant="default" size="xs" onClick={() => setHidden("")}>{text.app.showSteps}</Button>;
  return (
    <Card withBorder component="section" aria-label={text.app.firstSteps} maw="44rem">
      <Group justify="space-between">
        <Title order={2} size="h4">{text.app.firstSteps}</Title>
        <Button variant="default" size="xs" onClick={() => setHidden("hidden")}>{text.app.hideSteps}</Button>
      </Group>
      <Text size="sm" c="dimmed">{text.app.stepsOf(me.customer.name)}</Text>
      <List mt="sm" spacing="sm" listStyleType="none">
        {me.user.otpMethod === "none" ? <Shown to="/profile" done={false} of="twoFactor" /> : <Shown to="/profile" done of="twoFactor" />}
        {mine.map((step) => <Step key={step.name} step={step} />)}
      </List>
    </Card>
  );
}

function Step({ step: { name, to, document, done } }: { step: Way }) {
  const { data } = useAsk(document, {});
  return <Shown to={to} done={data !== undefined && done(data)} of={name} />;
}

function Shown({ to, done, of }: { to: string; done: boolean; of: Name | "twoFactor" }) {
  const { text } = useText();
  const { title, hint } = text.app.steps[of];
  return (
    <List.Item icon={<ThemeIcon variant="light" size="sm" radius="xl" color={done ? "canopy" : "gray"}>{done ? <IconCheck size={14} role="img" aria-label={text.app.stepDone} /> : <IconCircleDashed size={14} role="img" aria-label={text.app.stepOpen} />}</ThemeIcon>}>
      <Anchor component={Link} to={to} size="sm" td="underline">{title}</Anchor>
      <Text size="sm" c="dimmed">{hint}</Text>
    </List.Item>
  );
}
