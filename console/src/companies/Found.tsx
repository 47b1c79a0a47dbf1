import { Button } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useCallback } from "react";
import { usePages } from "../graph/pages";
import { useText } from "../text";
import { Empty } from "../ui/Empty";
import { Problem } from "../ui/Problem";
import { Rows } from "../ui/Rows";
import { CompaniesByName } from "./companies.gql";
import { Status } from "./Status";

/** Companies that go by a name, wherever they are. */
export function Found({ words, open, at, clear }: { words: string; open: (id: number) => void; at: number; clear: () => void }) {
  const { text } = useText();
  const [search] = useDebouncedValue(words, 200);
  const pages = usePages(CompaniesByName, { search }, ({ customers }) => customers);
  const onShow = useCallback((first: number, last: number) => pages.show(first, last), [pages]);
  if (pages.error) return <Problem error={pages.error} again={() => pages.retry()} />;
  if (pages.known && pages.rows.length === 0) return <Empty title={text.companies.noneFound(search)} hint={text.companies.noneFoundHint} action={<Button variant="default" onClick={clear}>{text.companies.clear}</Button>} />;
  return (
    <Rows
      label={text.companies.found} count={pages.rows.length} more={pages.more} onShow={onShow}
      keyOf={(index) => pages.rows[index]!.id} onOpen={(index) => open(pages.rows[index]!.databaseId)} isOpen={(index) => pages.rows[index]!.databaseId === at}
      render={(index) => {
        const { name, path, status } = pages.rows[index]!;
        return (
          <>
            <span className="cell">{name}</span>
            <Status status={status} />
            <span className="cell wide spare quiet">{path}</span>
          </>
        );
      }}
    />
  );
}
