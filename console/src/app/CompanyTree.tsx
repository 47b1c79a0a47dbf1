import { Button, Stack, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconCheck, IconMail, IconSearch } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { type ComponentProps, type KeyboardEvent, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useClient } from "urql";
import { CompaniesByName, type Company, Top } from "../companies/companies.gql";
import { CompanyHits, type Hit } from "../companies/CompanyHits";
import { TreeModel } from "../companies/tree";
import { TreeRows } from "../companies/TreeRows";
import { useAsk } from "../graph/hooks";
import { usePages } from "../graph/pages";
import { useMe } from "../session/rights";
import { session } from "../session/session";
import { Invited } from "../session/session.gql";
import { type Membership, usePlaces } from "../session/usePlaces";
import { useText } from "../text";
import { Problem } from "../ui/Problem";
import { unsaved } from "../ui/unsaved";
import { useNotices } from "../ui/useNotices";
import { Waiting } from "../ui/Waiting";
import "./companytree.css";

/** A company that one may act for, or look at. */
interface Place {
  databaseId: number;
  name: string;
}

// Of those who belong to very many companies, the ways to these are open at first.
const mostRevealed = 20;

/** The companies that one belongs to, and what stands below the one that one acts for: as a tree, or those that go by a name. */
export function CompanyTree({ close }: { close: () => void }) {
  const { text } = useText();
  const me = useMe();
  const navigate = useNavigate();
  const { attempt } = useNotices();
  const [words, setWords] = useState("");
  const [search] = useDebouncedValue(words.trim(), 200);
  const input = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const { data } = useAsk(Invited, {});
  const { places, error, again } = usePlaces();
  // It is loaded when it is opened for the first time, and then comes after what gives the focus to what is opened.
  useEffect(() => input.current?.focus(), []);
  const invited = data?.me.invitations.length ?? 0;
  const open = ({ databaseId }: Place) => {
    close();
    if (databaseId === me.customer.databaseId) return;
    if (roleIn(databaseId) === undefined) return void navigate({ to: "/companies/$companyId", params: { companyId: String(databaseId) } });
    if (unsaved() && !window.confirm(text.app.leave)) return;
    void attempt(async () => {
      await session.switchTo(databaseId);
      await navigate({ to: "/" });
    });
  };
  // Whoever writes while the tree has the focus looks for a name.
  const onKey = (key: string) => {
    if (key.length === 1) input.current?.focus();
    return false;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "ArrowDown") return;
    event.preventDefault();
    list.current?.querySelector<HTMLElement>(".rows")?.focus();
  };
  return (
    <Stack gap="xs">
      <TextInput
        ref={input} size="sm" type="search" leftSection={<IconSearch size={16} aria-hidden />} aria-label={text.app.findCompany} placeholder={text.app.findCompany}
        value={words} onChange={(event) => setWords(event.currentTarget.value)} onKeyDown={onKeyDown}
      />
      <div ref={list} className="companytree">
        {search !== "" ? <Found search={search} open={open} /> : places ? <Mine mine={places} open={open} onKey={onKey} /> : error ? <Problem error={error} again={again} /> : <Waiting />}
      </div>
      <Text size="xs" c="dimmed">{text.app.companiesHint}</Text>
      {invited > 0 && (
        <Button variant="default" size="xs" leftSection={<IconMail size={16} aria-hidden />} onClick={() => {
          close();
          void navigate({ to: "/profile" });
        }}>
          {text.session.invited(invited)}
        </Button>
      )}
    </Stack>
  );
}

/** One's role in a company; undefined where one can't act for it. */
function roleIn(customerId: number): string | undefined {
  return session.companies.find((one) => one.customerId === customerId)?.roleName;
}

function Role({ of: { databaseId } }: { of: Place }) {
  const me = useMe();
  return (
    <>
      <span className="quiet">{roleIn(databaseId)}</span>
      {databaseId === me.customer.databaseId && <IconCheck size={16} aria-label="✓" />}
    </>
  );
}

interface MineProps {
  /** Those of the companies that one belongs to which stand below the one that one acts for. */
  mine: readonly Membership[];
  open: (place: Place) => void;
  onKey: (key: string) => boolean;
}

function Mine({ mine, ...props }: MineProps) {
  const me = useMe();
  const { data, error, again } = useAsk(Top, { id: null }, { pause: !me.can("company.read") });
  if (error && !data) return <Problem error={error} again={again} />;
  if (!data && me.can("company.read")) return <Waiting />;
  return <Branches top={data?.customer ?? undefined} mine={mine} {...props} />;
}

function Branches({ top, mine, open, onKey }: MineProps & { top: Company | undefined }) {
  const { text } = useText();
  const me = useMe();
  const client = useClient();
  const tree = useMemo(() => {
    const below = new Set(top ? mine.map(({ databaseId }) => databaseId) : []);
    const others = session.companies.filter(({ customerId }) => customerId !== top?.databaseId && !below.has(customerId));
    const tops = [...others.map(({ customerId, displayName }) => alone(customerId, displayName)), ...(top ? [top] : [])];
    const model = new TreeModel(client, tops, top?.id);
    for (const { ancestors } of mine.slice(0, mostRevealed)) ancestors.filter(({ customer }) => customer && top).forEach(({ id }) => model.open(id));
    return model;
  }, [client, top?.id, mine]);
  return <TreeRows tree={tree} label={text.app.companies} open={open} at={me.customer.databaseId} detail={(company) => <Role of={company} />} onKey={onKey} />;
}

/** A company that is out of reach, of which nothing is known but its name. */
function alone(databaseId: number, name: string): Company {
  return { id: String(databaseId), databaseId, name, status: "ACTIVE", level: 0, children: { nodes: [] } } as unknown as Company;
}

/** Those of one's companies, and of those below the one that one acts for, that go by a name. */
function Found({ search, open }: { search: string; open: (place: Place) => void }) {
  const me = useMe();
  return me.can("company.read") ? <FoundBelow search={search} open={open} /> : <Hits of={mineBy(search)} search={search} open={open} />;
}

function mineBy(search: string): Hit[] {
  const fits = (name: string) => search.toLowerCase().split(/\s+/).every((word) => name.toLowerCase().includes(word));
  return session.companies.filter(({ displayName }) => fits(displayName)).map(({ customerId, displayName }) => ({ databaseId: customerId, name: displayName }));
}

function FoundBelow({ search, open }: { search: string; open: (place: Place) => void }) {
  const pages = usePages(CompaniesByName, { search }, ({ customers }) => customers);
  const onShow = useCallback((first: number, last: number) => pages.show(first, last), [pages]);
  if (pages.error) return <Problem error={pages.error} again={() => pages.retry()} />;
  if (!pages.known) return <Waiting />;
  const known = new Set(pages.rows.map(({ databaseId }) => databaseId));
  return <Hits of={[...mineBy(search).filter(({ databaseId }) => !known.has(databaseId)), ...pages.rows]} more={pages.more} onShow={onShow} search={search} open={open} />;
}

function Hits(props: Omit<ComponentProps<typeof CompanyHits>, "at" | "end">) {
  const me = useMe();
  return <CompanyHits {...props} at={me.customer.databaseId} end={(hit) => <Role of={hit} />} />;
}
