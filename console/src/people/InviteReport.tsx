import { Alert, Anchor, Button, Code, List, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useMe } from "../session/rights";
import { type Text as Words, useText } from "../text";
import { MailsKept } from "../ui/MailsKept";
import { sentence } from "../ui/Problem";
import type { Outcome } from "./invitation";

/** How many of those who can't do anything yet are named, each with the way to a permission. */
const named = 5;

/** How many were invited, who was not and why, who has not got a permission, and what became of each. */
export function InviteReport({ of, again, busy }: { of: readonly Outcome[]; again: () => void; busy: boolean }) {
  const { text } = useText();
  const refused = of.filter(({ why }) => why !== undefined);
  const short = of.filter(({ missing }) => missing.some(({ why }) => why !== ""));
  return (
    <>
      {refused.length < of.length && <Invited people={of.filter(({ why }) => why === undefined)} />}
      {short.length > 0 && (
        <Alert color="red" role="alert" title={text.people.notGiven(short.length)}>
          <Text size="sm">{text.people.notGivenHint}</Text>
          <List size="sm">{short.slice(0, named).map((one) => <List.Item key={one.who.email}>{one.who.email}: {missingOf(one)}</List.Item>)}</List>
          <Button size="xs" mt="xs" variant="default" loading={busy} onClick={again}>{text.people.giveAgain}</Button>
        </Alert>
      )}
      {refused.length > 0 && (
        <Alert color="red" role="alert" title={text.people.refused(refused.length)}>
          <List size="sm">{refused.map(({ who, why }) => <List.Item key={who.email}>{who.email}: {sentence(why!)}</List.Item>)}</List>
        </Alert>
      )}
      {of.length > 1 && (
        <details>
          <summary>{text.people.report}</summary>
          <Code block tabIndex={0} role="group" aria-label={text.people.report}>{of.map((one) => `${one.who.email}\t${wordOf(one, text)}`).join("\n")}</Code>
        </details>
      )}
    </>
  );
}

function missingOf({ missing }: Outcome): string {
  return missing.map(({ gift, why }) => `${gift.name}: ${sentence(why)}`).join(" ");
}

function wordOf(one: Outcome, { people }: Words): string {
  if (one.why !== undefined) return sentence(one.why);
  const given = one.given.length > 0 ? people.isInvitedWith(one.given.map(({ name }) => name).join(", ")) : people.isInvited;
  // What was not tried yet is under way.
  return one.missing.some(({ why }) => why !== "") ? `${given} ${people.lacks} ${missingOf(one)}` : given;
}

/** How many were invited, and the next step for the first of those who may do nothing yet. */
function Invited({ people }: { people: readonly Outcome[] }) {
  const { text } = useText();
  const { can } = useMe();
  const without = people.filter(({ given, missing }) => given.length === 0 && !missing.some(({ why }) => why === ""));
  return (
    <Alert role="status" title={text.people.invited(people.length)}>
      {without.length === 0 ? <Text size="sm">{text.people.invitedReady}</Text> : can("permission.write") && (
        <>
          <Text size="sm">{text.people.invitedHint}</Text>
          <List size="sm" listStyleType="none">
            {without.slice(0, named).map(({ who: { email }, personId }) => (
              <List.Item key={email}><Anchor component={Link} to={`/people/${personId}/grant`} size="sm">{text.people.grantTitle(email)}</Anchor></List.Item>
            ))}
          </List>
        </>
      )}
      <MailsKept />
    </Alert>
  );
}
