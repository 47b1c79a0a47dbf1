import { Text } from "@mantine/core";
import { type ReactNode, useEffect, useRef } from "react";
import { useText } from "../text";
import { Rows } from "../ui/Rows";

/** A company as it is shown where it was found. */
export interface Hit {
  databaseId: number;
  name: string;
  path?: string;
}

interface CompanyHitsProps {
  of: readonly Hit[];
  more?: boolean;
  onShow?: (first: number, last: number) => void;
  /** What they were found by. */
  search: string;
  /** The company that one is at. */
  at: number | undefined;
  open: (hit: Hit) => void;
  /** What stands at the end of a row. */
  end?: (hit: Hit) => ReactNode;
}

const nothingMore = () => {};

/** The companies that go by a name, to choose one of. */
export function CompanyHits({ of, more = false, onShow = nothingMore, search, at, open, end }: CompanyHitsProps) {
  const { text } = useText();
  const none = useRef<HTMLParagraphElement>(null);
  useEffect(() => none.current?.scrollIntoView({ block: "nearest" }), [search]);
  if (of.length === 0) return <Text ref={none} size="sm" c="dimmed" role="status">{text.companies.noneFound(search)}</Text>;
  return (
    <Rows
      label={text.companies.found} count={of.length} more={more} height={40} onShow={onShow} keyOf={(index) => String(of[index]!.databaseId)}
      onOpen={(index) => open(of[index]!)} isOpen={(index) => of[index]!.databaseId === at}
      render={(index) => <><span className="cell">{of[index]!.name}</span><span className="cell spare quiet">{of[index]!.path}</span>{end?.(of[index]!)}</>}
    />
  );
}
