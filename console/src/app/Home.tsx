import { Anchor, Card, Group, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { useMe } from "../session/rights";
import { useText } from "../text";
import { PageHead } from "../ui/Page";
import { entriesFor } from "./areas";

const OwnRights = lazy(() => import("./OwnRights").then(({ OwnRights }) => ({ default: OwnRights })));
const WithoutRights = lazy(() => import("../people/WithoutRights").then(({ WithoutRights }) => ({ default: WithoutRights })));
const FirstSteps = lazy(() => import("./FirstSteps").then(({ FirstSteps }) => ({ default: FirstSteps })));

/** The first page: who one is, and where one can go. */
export function Home() {
  const { text } = useText();
  const me = useMe();
  const entries = entriesFor(me);
  return (
    <Stack>
      <PageHead title={text.app.welcome(me.user.firstName || me.email)} />
      {/* They come together, so that none pushes the others down. */}
      <Suspense>
        {me.grants.length === 0 ? <Text c="dimmed">{text.app.noAccess}</Text> : <OwnRights />}
        <FirstSteps />
        <Group>
          {entries.map(({ to, label, icon: Icon }) => (
            <Card key={to} withBorder w="13rem">
              <Group gap="xs"><Icon size={20} aria-hidden /><Anchor component={Link} to={to}>{label(text)}</Anchor></Group>
            </Card>
          ))}
        </Group>
        {/* What it shows is asked for, and stands where it moves nothing when it comes. */}
        {me.can("user.read") && me.can("permission.write") && <WithoutRights />}
      </Suspense>
    </Stack>
  );
}
