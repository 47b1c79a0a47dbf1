import { Modal, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconArrowRight, IconSearch, type Icon } from "@tabler/icons-react";
import { useRouter } from "@tanstack/react-router";
import type { CanopyError } from "canopy-client";
import { type KeyboardEvent, useEffect, useId, useMemo, useState } from "react";
import { useClient } from "urql";
import { errorOf } from "../graph/hooks";
import { has, useMe } from "../session/rights";
import { useEveryText, useText } from "../text";
import { Problem } from "../ui/Problem";
import type { Finder, Hit } from "./area";
import { areas, entriesFor, pagesFor } from "./areas";
import type { SearchProps } from "./Searching";
import "./search.css";

/** A word such as "new" is in the names of many pages, before which nothing else would be seen. */
const mostPages = 8;

interface Found extends Hit {
  icon: Icon;
}

/** Finds anything by its name, from anywhere. */
export function Search({ words, setWords, close }: SearchProps) {
  const { text } = useText();
  const router = useRouter();
  const [active, setActive] = useState(0);
  const { found, error, asked } = useFound(words.trim());
  const id = useId();
  useEffect(() => setActive(0), [found]);

  const open = (hit: Found | undefined) => {
    if (!hit) return;
    close();
    void router.navigate({ href: hit.to });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") setActive(Math.min(found.length - 1, active + 1));
    else if (event.key === "ArrowUp") setActive(Math.max(0, active - 1));
    else if (event.key === "Enter") open(found[active]);
    else return;
    event.preventDefault();
  };
  return (
    <Modal.Root opened onClose={close} size="lg" yOffset="10dvh" padding={0}>
      <Modal.Overlay />
      <Modal.Content aria-label={text.app.search}>
        <TextInput
          variant="unstyled" size="md" px="md" leftSection={<IconSearch size={18} aria-hidden />} placeholder={text.app.searchHint} data-autofocus
          aria-label={text.app.search} role="combobox" aria-expanded={found.length > 0} aria-controls={id} aria-autocomplete="list"
          aria-activedescendant={found.length > 0 ? `${id}-${active}` : undefined}
          value={words} onChange={(event) => setWords(event.currentTarget.value)} onKeyDown={onKeyDown}
        />
        {error && <Problem error={error} />}
        <div id={id} role="listbox" aria-label={text.app.search} className="hits">
          {found.map((hit, index) => (
            <div
              key={hit.to} id={`${id}-${index}`} role="option" aria-selected={index === active} className="hit"
              ref={index === active ? (element) => element?.scrollIntoView({ block: "nearest" }) : undefined}
              onClick={() => open(hit)} onMouseMove={() => setActive(index)}
            >
              <hit.icon size={18} aria-hidden />
              <span className="what">{hit.title}</span>
              <span className="quiet">{hit.detail}</span>
            </div>
          ))}
        </div>
        <Text size="xs" c="dimmed" p="sm" role="status">
          {asked && found.length === 0 && !error ? text.app.searchNone(words.trim()) : text.app.searchHelp}
        </Text>
      </Modal.Content>
    </Modal.Root>
  );
}

/** What goes by a text: pages at once, and the rest as the platform answers. */
function useFound(words: string): { found: Found[]; error: CanopyError | undefined; asked: boolean } {
  const { text } = useText();
  const me = useMe();
  const client = useClient();
  const [settled] = useDebouncedValue(words, 150);
  const [answer, setAnswer] = useState<{ words: string; hits: Found[]; error: CanopyError | undefined }>({ words: "", hits: [], error: undefined });
  useEffect(() => {
    if (settled === "") return;
    let over = false;
    const finders = areas.flatMap((area) => area.finders).filter(({ needs }) => has(me, needs));
    const ask = async ({ document, hits, icon }: Finder) => {
      const { data, error } = await client.query(document.toString(), { text: settled }).toPromise();
      return { hits: data ? hits(data as never, text, settled).map((hit) => ({ icon, ...hit })) : [], error: errorOf(error) };
    };
    void Promise.all(finders.map(ask)).then((answers) => {
      if (!over) setAnswer({ words: settled, hits: answers.flatMap(({ hits }) => hits), error: answers.find(({ error }) => error)?.error });
    });
    return () => void (over = true);
  }, [settled, client, text]);
  const texts = useEveryText();
  return useMemo(() => {
    const by = words.toLowerCase().split(/\s+/);
    const all = pagesFor(me, text).map((page) => ({ icon: IconArrowRight, ...page }));
    // Who knows a page by its name in another language finds it, too.
    const names = texts.map((one) => pagesFor(me, one).map(({ title, detail }) => `${title} ${detail}`.toLowerCase()));
    const fits = (place: number) => names.some((of) => by.every((word) => of[place]!.includes(word)));
    // The places beside the menu are not shown before somebody looks for one.
    const pages = words === "" ? all.slice(0, entriesFor(me).length) : all.filter((_, place) => fits(place)).slice(0, mostPages);
    const there = words !== "" && answer.words !== "";
    return { found: [...pages, ...(there ? answer.hits : [])], error: there ? answer.error : undefined, asked: words !== "" && answer.words === words };
  }, [words, answer, text, texts, me]);
}
