import { Alert, Button, Group, List, Stack, Text, Textarea } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
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

interface Outcome {
  invited: number;
  refused: { who: Invitee; why: string }[];
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
  const [outcome, setOutcome] = useState<Outcome>();
  const { people, bad } = parsePeople(lines);
  const fault = bad.length > 0 ? text.people.inviteBad(bad.join(", ")) : people.length > most ? text.people.inviteMany : undefined;
  const submit = useSubmit(async () => {
    const { createUsers } = await invite({ input: { customerId, users: people } });
    const refused = createUsers!.results.flatMap(({ index, error }) => (error ? { who: people[index]!, why: error.message } : []));
    setOutcome({ invited: people.length - refused.length, refused });
    // Those who were refused stay, to be mended.
    setLines(refused.map(({ who }) => [who.firstName, who.lastName, `<${who.email}>`].filter(Boolean).join(" ")).join("\n"));
  });
  return (
    <SidePanel title={text.people.invite} close={() => navigate({ to: "/people", search: true })}>
      <form onSubmit={submit.onSubmit}>
        <Stack>
          <Text size="sm" c="dimmed">{text.people.inviteInto(data?.customer?.name ?? me.customer.name)}</Text>
          {outcome && outcome.invited > 0 && <Alert role="status">{text.people.invited(outcome.invited)}</Alert>}
          {outcome && outcome.refused.length > 0 && (
            <Alert color="red" role="alert" title={text.people.refused(outcome.refused.length)}>
              <List size="sm">{outcome.refused.map(({ who, why }) => <List.Item key={who.email}>{who.email}: {sentence(why)}</List.Item>)}</List>
            </Alert>
          )}
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
