import { Anchor } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useText } from "../text";
import { sentence } from "../ui/Problem";
import { When } from "../ui/When";
import { CompanyLink } from "./CompanyLink";
import type { OperationsResult } from "./operations.gql";
import { Section } from "./Section";

/** Mails that did not go out: why, and whether they are tried again. */
export function LateMails({ mails }: { mails: OperationsResult["operations"]["lateMails"] }) {
  const { text, format } = useText();
  return (
    <Section
      title={text.operations.mails} none={text.operations.noMails} hint={text.operations.mailsHint}
      rows={mails} keyOf={({ createdAt }, place) => `${createdAt} ${place}`}
      columns={[
        {
          title: text.operations.mail, by: ({ createdAt }) => createdAt,
          cell: ({ kind, user, createdAt }) => (
            <>{kind}{user && <> · <Anchor component={Link} to={`/people/${user.databaseId}`} size="sm" td="underline">{user.email}</Anchor></>} · <When at={createdAt} /></>
          ),
        },
        { title: text.operations.company, by: ({ branch }) => branch?.name, cell: ({ branch }) => <CompanyLink company={branch} /> },
        { title: text.operations.reason, by: ({ reason }) => reason, cell: ({ reason }) => sentence(reason) },
        { title: text.operations.attempts, by: ({ attempts }) => attempts, cell: ({ attempts }) => format.number(attempts) },
        {
          title: text.operations.next, by: ({ nextAttemptAt, givenUpAt }) => givenUpAt ?? nextAttemptAt,
          cell: ({ nextAttemptAt, givenUpAt }) => (givenUpAt ? <>{text.operations.givenUp} <When at={givenUpAt} /></> : <When at={nextAttemptAt} />),
        },
      ]}
    />
  );
}
