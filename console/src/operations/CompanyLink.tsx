import { Anchor } from "@mantine/core";
import { Link } from "@tanstack/react-router";

/** A company, by a link to it; nothing for one that is gone. */
export function CompanyLink({ company }: { company: { databaseId: number; name: string } | null }) {
  return company && <Anchor component={Link} to={`/companies/${company.databaseId}`} size="sm" td="underline">{company.name}</Anchor>;
}
