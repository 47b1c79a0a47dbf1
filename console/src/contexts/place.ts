import type { Text } from "../text";

/** Where a piece of a document is, as far as its format has pages, headings or rows. */
export function placeOf({ position, page, heading, row }: { position: number; page: number | null; heading: string | null; row: number | null }, { contexts }: Text): string {
  const parts = [page !== null && contexts.page(page), heading, row !== null && contexts.row(row)].filter(Boolean);
  return parts.length > 0 ? parts.join(" · ") : contexts.piece(position + 1);
}
