import { Alert, Anchor, Button, Code, Group, List, Stack, Text, Textarea } from "@mantine/core";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { useAsk, useChange } from "../graph/hooks";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { Problem, sentence } from "../ui/Problem";
import { SidePanel } from "../ui/SidePanel";
import { useSubmit } from "../ui/useSubmit";
import { CompanyName, InvitePeople } from "./people.gql";
import { type Invitee, parsePeople } from "./parse";

const most = 200;
/** How many of those who were invited are named, each with the way to a permission. */
const named = 5;

/** What became of one of them. */
interface Outcome {
  who: Invitee;
  /** Who they are, once they are invited. */
  personId: number | undefined;
  /** Why they could not be invited. */
  why: string | undefined;
}

/** Invites one person, or as many as are pasted. */
export function Invite() {
  const { text } = useText();
  const me = useMe();
  const { company } = useSearch({ from: "/inside/people" });
  const customerId = company ?? me.customer.databaseId;
  const { data } = useAsk(CompanyName, { id: customerId });
  const navigate = useNavigate();
  const invite = useChange(InvitePeople);
  const [lines, setLines] = useState("");
  const [outcomes, setOutcomes] = useState<readonly Outcome[]>([]);
  const { people, bad } = parsePeople(lines);
  const fault = bad.length > 0 ? text.people.inviteBad(bad.join(", ")) : people.length > most ? text.people.inviteMany : undefined;
  const submit = useSubmit(async () => {
    const { createUsers } = await invite({ input: { customerId, users: people } });
    const became = createUsers!.results.map(({ index, error, user }) => ({ who: people[index]!, personId: user?.databaseId, why: error?.message }));
    setOutcomes(became);
    // Those who were refused stay, to be mended.
    setLines(became.filter(({ why }) => why !== undefined).map(({ who }) => [who.firstName, who.lastName, `<${who.email}>`].filter(Boolean).join(" ")).join("\n"));
  });
  return (
    <SidePanel title={text.people.invite} close={() => navigate({ to: "/people", search: true })}>
      <form onSubmit={submit.onSubmit}>
        <Stack>
          <Text size="sm" c="dimmed">{text.people.inviteInto(data?.customer?.name ?? me.customer.name)}</Text>
          {outcomes.length > 0 && <Report of={outcomes} />}
          <Problem error={submit.error} />
          <Textarea
            label={text.people.inviteWho} description={text.people.inviteHint} placeholder={text.people.inviteExample} rows={8} required withAsterisk={false} spellCheck={false}
            error={fault} value={lines} onChange={(event) => setLines(event.currentTarget.value)}
          />
          <Group><Button type="submit" loading={submit.busy} disabled={people.length === 0 || fault !== undefined}>{text.people.inviteButton(people.length)}</Button></Group>
        </Stack>
      </form>
    </SidePanel>
  );
}

/** How many were invited, who was not and why, and what became of each. */
function Report({ of }: { of: readonly Outcome[] }) {
  const { text } = useText();
  const refused = of.filter(({ why }) => why !== undefined);
  const word = (why: string | undefined) => (why === undefined ? text.people.isInvited : sentence(why));
  return (
    <>
      {refused.length < of.length && <Invited people={of.filter(({ why }) => why === undefined)} />}
      {refused.length > 0 && (
        <Alert color="red" role="alert" title={text.people.refused(refused.length)}>
          <List size="sm">{refused.map(({ who, why }) => <List.Item key={who.email}>{who.email}: {word(why)}</List.Item>)}</List>
        </Alert>
      )}
      {of.length > 1 && (
        <details>
          <summary>{text.people.report}</summary>
          <Code block tabIndex={0} role="group" aria-label={text.people.report}>{of.map(({ who, why }) => `${who.email}\t${word(why)}`).join("\n")}</Code>
        </details>
      )}
    </>
  );
}

/** How many were invited, and the next step for the first of them. */
function Invited({ people }: { people: readonly Outcome[] }) {
  const { text } = useText();
  const { can } = useMe();
  return (
    <Alert role="status" title={text.people.invited(people.length)}>
      {can("permission.write") && (
        <>
          <Text size="sm">{text.people.invitedHint}</Text>
          <List size="sm" listStyleType="none">
            {people.slice(0, named).map(({ who: { email }, personId }) => (
              <List.Item key={email}><Anchor component={Link} to={`/people/${personId}/grant`} size="sm">{text.people.grantTitle(email)}</Anchor></List.Item>
            ))}
          </List>
        </>
      )}
    </Alert>
  );
}
