import { TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useCallback, useState } from "react";
import { usePages } from "../graph/pages";
import { useText } from "../text";
import { Problem } from "../ui/Problem";
import { Waiting } from "../ui/Waiting";
import { CompaniesByName } from "./companies.gql";
import { CompanyHits } from "./CompanyHits";
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
  const pages = usePages(CompaniesByName, { search }, ({ customers }) => customers);
  const onShow = useCallback((first: number, last: number) => pages.show(first, last), [pages]);
  if (pages.error) return <Problem error={pages.error} again={() => pages.retry()} />;
  if (!pages.known) return <Waiting />;
  return <CompanyHits of={pages.rows} more={pages.more} onShow={onShow} search={search} at={at} open={({ databaseId }) => choose(databaseId)} />;
}
