import { ActionIcon, AppShell, Burger, Button, Center, Group, Kbd, NavLink, Text, VisuallyHidden } from "@mantine/core";
import { useDisclosure, useHotkeys, useNetwork } from "@mantine/hooks";
import { IconHome, IconSearch } from "@tabler/icons-react";
import { Link, Outlet, useNavigate } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { Provider } from "urql";
import { newClient } from "../graph/client";
import { useAsk } from "../graph/hooks";
import { useHeard } from "../graph/useHeard";
import { MeContext, useMe } from "../session/rights";
import { currentSigned, watchSigned } from "../session/session";
import { Me, MeUpdated } from "../session/session.gql";
import { useText } from "../text";
import { Problem } from "../ui/Problem";
import { onTyped } from "../ui/unsaved";
import { Waiting } from "../ui/Waiting";
import { Allowed } from "./Allowed";
import { entriesFor } from "./areas";
import { Kept, useRightsKept, useUnsavedHere } from "./Kept";
import { Logo } from "./Logo";
import { Searching } from "./Searching";

// What opens on a click is loaded once the first screen is there.
const AccountMenu = lazy(() => import("./AccountMenu").then(({ AccountMenu }) => ({ default: AccountMenu })));
const CompanySwitcher = lazy(() => import("./CompanySwitcher").then(({ CompanySwitcher }) => ({ default: CompanySwitcher })));

/** The frame around every screen, for as long as somebody is signed in. What is cached is cached for one company. */
export function Shell() {
  const signed = useSyncExternalStore(watchSigned, currentSigned);
  const last = useRef<number>(undefined);
  // What is not saved stays, also where the session was ended elsewhere.
  const stays = useUnsavedHere() && signed.state === "ended";
  if (!stays) last.current = signed.state === "in" ? signed.customerId : undefined;
  const customerId = last.current;
  const client = useMemo(() => newClient(), [customerId]);
  const navigate = useNavigate();
  useEffect(() => {
    if (signed.state === "in" || stays) return;
    // Who has signed out comes back to the first page, and who was signed out to where they were.
    const to = signed.state === "ended" ? location.pathname.replace(/^\/console/, "") + location.search : undefined;
    void navigate({ to: "/sign-in", search: { to, why: signed.state }, replace: true });
  }, [signed.state, stays, navigate]);
  if (customerId === undefined) return null;
  return (
    <Provider value={client} key={customerId}>
      <WithMe />
    </Provider>
  );
}

function WithMe() {
  const { data, error, again } = useAsk(Me, {});
  const me = useRightsKept(data?.me);
  if (me) {
    return (
      <MeContext value={me}>
        <Frame again={again} />
      </MeContext>
    );
  }
  return (
    <Center mih="60dvh" component="main" p="md">
      <VisuallyHidden component="h1">Canopy</VisuallyHidden>
      {error ? <Problem error={error} again={again} /> : <Waiting />}
    </Center>
  );
}

function Frame({ again }: { again: () => void }) {
  const { text } = useText();
  const me = useMe();
  // Who may do something else by now, or has been signed out elsewhere, sees that without a click: the client goes by how the subscription ends.
  useHeard(MeUpdated, [{}], () => {});
  const [menu, { toggle, close }] = useDisclosure(false);
  const [searching, { open: search, close: endSearch }] = useDisclosure(false);
  useHotkeys([["mod+K", search]], []);
  const entries = entriesFor(me);
  return (
    <AppShell onInput={onTyped} header={{ height: 56 }} navbar={{ width: 220, breakpoint: "sm", collapsed: { mobile: !menu } }} padding="md">
      <a className="skip" href="#main">{text.app.skip}</a>
      <AppShell.Header zIndex={102}>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap" gap="xs">
          <Group gap="xs" wrap="nowrap" miw={0}>
            <Burger opened={menu} onClick={toggle} hiddenFrom="sm" size="sm" aria-label={text.app.menu} aria-expanded={menu} />
            <Logo />
            <Later><CompanySwitcher /></Later>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <Button
              visibleFrom="sm" variant="default" leftSection={<IconSearch size={16} aria-hidden />} rightSection={<Kbd size="xs">{mod}K</Kbd>}
              onClick={search}
            >
              {text.app.search}
            </Button>
            <ActionIcon hiddenFrom="sm" variant="default" size="lg" aria-label={text.app.search} onClick={search}>
              <IconSearch size={18} aria-hidden />
            </ActionIcon>
            <Later><AccountMenu /></Later>
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label={text.app.main}>
        <NavLink component={Link} to="/" label={text.app.home} leftSection={<IconHome size={18} aria-hidden />} onClick={close} activeOptions={{ exact: true }} activeProps={current} />
        {entries.map(({ to, label, icon: Icon }) => (
          <NavLink key={to} component={Link} to={to} label={label(text)} leftSection={<Icon size={18} aria-hidden />} onClick={close} activeProps={current} />
        ))}
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1}>
        <Offline />
        <Kept again={again} />
        <Allowed><Outlet /></Allowed>
      </AppShell.Main>
      {searching && <Searching close={endSearch} />}
    </AppShell>
  );
}

const current = { "aria-current": "page", "data-active": true } as const;
const mod = /Mac|iPhone|iPad/.test(navigator.userAgent) ? "⌘" : "Ctrl ";

/** Leaves something out until the rest is there. */
function Later({ children }: { children: ReactNode }) {
  const [now, setNow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setNow(true), 0);
    return () => clearTimeout(timer);
  }, []);
  return now && <Suspense>{children}</Suspense>;
}

/** Says that there is no connection. */
function Offline() {
  const { text } = useText();
  const { online } = useNetwork();
  return online ? null : <Text role="status" bg="var(--mantine-color-yellow-light)" c="var(--mantine-color-yellow-light-color)" p="xs" mb="sm">{text.app.offline}</Text>;
}
