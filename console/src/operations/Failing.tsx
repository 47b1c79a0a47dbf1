import { Anchor } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { usePolled } from "../graph/usePolled";
import { useText } from "../text";
import { Problem } from "../ui/Problem";
import { When } from "../ui/When";
import { CompanyLink } from "./CompanyLink";
import { Failing as Ask } from "./operations.gql";
import { Section } from "./Section";

/** Destinations to which nothing gets through. */
export function Failing() {
  const { text } = useText();
  const { data, error, again } = usePolled(Ask, {});
  if (!data && error) return <Problem error={error} again={again} />;
  return (
    <Section
      title={text.operations.failing} none={text.operations.noFailing} hint={text.operations.failingHint}
      rows={data?.operations.failingDestinations} keyOf={({ id }) => id}
      columns={[
        {
          title: text.operations.destination, by: ({ name, url }) => name || url,
          cell: ({ databaseId, name, url, customer }) => (
            <Anchor component={Link} to={`/webhooks/destinations/${databaseId}?company=${customer?.databaseId ?? ""}`} size="sm" td="underline">{name || url}</Anchor>
          ),
        },
        { title: text.operations.company, by: ({ customer }) => customer?.name, cell: ({ customer }) => <CompanyLink company={customer} /> },
        { title: text.operations.failingSince, by: ({ failingSince }) => failingSince, cell: ({ failingSince }) => <When at={failingSince} /> },
        { title: text.operations.state, by: ({ enabled }) => Number(enabled), cell: ({ enabled }) => (enabled ? text.operations.triedStill : text.operations.turnedOff) },
      ]}
    />
  );
}
