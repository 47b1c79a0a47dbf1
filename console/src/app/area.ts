import type { Icon } from "@tabler/icons-react";
import type { TypedDocument } from "canopy-client";
import type { Right } from "../session/rights";
import type { Text } from "../text";

/** A page of the main menu. */
export interface Entry {
  to: string;
  label: (text: Text) => string;
  icon: Icon;
  /** Shown to those who have any of these rights. */
  needs: readonly Right[];
  /** Only to those of the root company. */
  ofRoot?: boolean;
}

/** A page that is not in the main menu; the search box finds it by its name, and by what it is part of. */
export interface Place extends Pick<Entry, "label"> {
  to: string | ((who: { customer: { databaseId: number } }) => string);
  part: (text: Text) => string;
  /** Found by those who have the right; by everybody where there is none. */
  needs?: Right;
}

/** Something that the search box finds, and where it is shown. */
export interface Hit {
  to: string;
  title: string;
  detail: string;
  /** Where it is something else than what the finder looks for. */
  icon?: Icon;
}

/** What the search box finds of an area: a query that may have the variable `$text`, and the hits in its result. */
export interface Finder {
  needs: Right;
  icon: Icon;
  document: TypedDocument<never, { text: string }>;
  hits: (result: never, text: Text, words: string) => Hit[];
}

/** Makes a finder of a document that knows its types. */
export function finder<R>(of: Omit<Finder, "document" | "hits"> & { document: TypedDocument<R, { text: string }> | TypedDocument<R, object>; hits: (result: R, text: Text, words: string) => Hit[] }): Finder {
  return of as unknown as Finder;
}

/** What an area puts into the frame. */
export interface Area {
  entries: readonly Entry[];
  places?: readonly Place[];
  finders: readonly Finder[];
}
