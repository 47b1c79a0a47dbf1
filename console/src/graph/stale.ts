import type { Cache, UpdateResolver } from "@urql/exchange-graphcache";

/** Has fields of the root asked for again, whatever their arguments. */
export function staleQueries(...fields: string[]): UpdateResolver {
  return (_, __, cache) => forget(cache, "Query", fields);
}

/** Has fields of one object asked for again, whatever their arguments. */
export function forget(cache: Cache, key: string, fields: readonly string[]): void {
  for (const { fieldName, fieldKey } of cache.inspectFields(key)) {
    if (fields.includes(fieldName)) cache.invalidate(key, fieldKey);
  }
}

/** Has fields of companies asked for again: of the caller's own, and of each that was looked at. */
export function forgetOfCompanies(cache: Cache, ...fields: string[]): void {
  for (const { fieldName, fieldKey } of cache.inspectFields("Query")) {
    const found = fieldName === "me" || fieldName === "customer" ? cache.resolve("Query", fieldKey) : undefined;
    const company = fieldName === "me" && typeof found === "string" ? cache.resolve(found, "customer") : found;
    if (typeof company === "string") forget(cache, company, fields);
  }
}
