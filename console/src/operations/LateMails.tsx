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
      columns={[text.operations.mail, text.operations.company, text.operations.reason, text.operations.attempts, text.operations.next]}
      rows={mails.map(({ kind, user, branch, reason, attempts, createdAt, nextAttemptAt, givenUpAt }, place) => ({
        key: `${createdAt} ${place}`,
        cells: [
          <span key="mail">{kind}{user && <> · <Anchor component={Link} to={`/people/${user.databaseId}`} size="sm" td="underline">{user.email}</Anchor></>} · <When at={createdAt} /></span>,
          <CompanyLink key="company" company={branch} />,
          sentence(reason),
          format.number(attempts),
          givenUpAt ? <span key="next">{text.operations.givenUp} <When at={givenUpAt} /></span> : <When key="next" at={nextAttemptAt} />,
        ],
      }))}
    />
  );
}
