import { Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useCallback, useState } from "react";
import { usePages } from "../graph/pages";
import { useText } from "../text";
import { Problem } from "../ui/Problem";
import { Rows } from "../ui/Rows";
import { CompaniesByName } from "./companies.gql";
import { Tree } from "./Tree";

interface Picked {
  /** The company that is chosen. */
  at: number | undefined;
  choose: (id: number) => void;
}

/** Picks a company in the tree, or among those that go by a name. */
export function MovePlace({ at, choose }: Picked) {
  const { text } = useText();
  const [words, setWords] = useState("");
  const [search] = useDebouncedValue(words.trim(), 200);
  return (
    <>
      <TextInput label={text.companies.moveFind} description={text.companies.moveFindHint} value={words} autoComplete="off" onChange={(event) => setWords(event.currentTarget.value)} />
      <div style={{ height: 240, display: "flex", flexDirection: "column" }}>
        {search === "" ? <Tree label={text.companies.movePlaces} open={choose} at={at ?? NaN} /> : <Found search={search} at={at} choose={choose} />}
      </div>
    </>
  );
}

function Found({ search, at, choose }: Picked & { search: string }) {
  const { text } = useText();
  const pages = usePages(CompaniesByName, { search }, ({ customers }) => customers);
  const onShow = useCallback((first: number, last: number) => pages.show(first, last), [pages]);
  const { rows } = pages;
  if (pages.error) return <Problem error={pages.error} again={() => pages.retry()} />;
  if (pages.known && rows.length === 0) return <Text size="sm" c="dimmed">{text.companies.noneFound(search)}</Text>;
  return (
    <Rows
      label={text.companies.found} count={rows.length} more={pages.more} height={40} onShow={onShow} keyOf={(index) => rows[index]!.id}
      onOpen={(index) => choose(rows[index]!.databaseId)} isOpen={(index) => rows[index]!.databaseId === at}
      render={(index) => <><span className="cell">{rows[index]!.name}</span><span className="cell spare quiet">{rows[index]!.path}</span></>}
    />
  );
}
