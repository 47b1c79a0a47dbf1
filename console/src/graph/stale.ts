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
