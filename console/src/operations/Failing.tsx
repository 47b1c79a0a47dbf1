import { Anchor } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useText } from "../text";
import { Problem } from "../ui/Problem";
import { When } from "../ui/When";
import { CompanyLink } from "./CompanyLink";
import { Failing as Ask } from "./operations.gql";
import { Section } from "./Section";
import { useKept } from "./useKept";

/** Destinations to which nothing gets through. */
export function Failing() {
  const { text } = useText();
  const { data, error, again } = useKept(Ask, {});
  if (!data) return <Problem error={error} again={again} />;
  return (
    <Section
      title={text.operations.failing} none={text.operations.noFailing} hint={text.operations.failingHint}
      columns={[text.operations.destination, text.operations.company, text.operations.failingSince, text.operations.state]}
      rows={data.operations.failingDestinations.map(({ id, databaseId, url, name, enabled, failingSince, customer }) => ({
        key: id,
        cells: [
          <Anchor key="to" component={Link} to={`/webhooks/destinations/${databaseId}?company=${customer?.databaseId ?? ""}`} size="sm" td="underline">{name || url}</Anchor>,
          <CompanyLink key="company" company={customer} />,
          <When key="since" at={failingSince} />,
          enabled ? text.operations.triedStill : text.operations.turnedOff,
        ],
      }))}
    />
  );
}
