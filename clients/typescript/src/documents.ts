/** A GraphQL document that knows the types of its result and its variables: those of `canopy-documents` and of graphql-codegen do. */
export interface TypedDocument<Result, Variables> {
  toString(): string;
  readonly __apiType?: (variables: Variables) => Result;
}

/** Gives a document its types. `canopy-documents` writes calls of it. */
export function document<Result, Variables>(text: string): TypedDocument<Result, Variables> {
  return text;
}

/** What the operation of a document does. A document has one operation, and any fragments. */
export function operationOf(text: string): "query" | "mutation" | "subscription" {
  const bare = text.replace(/"""[^]*?"""|"(?:\\.|[^"\\])*"|#.*/g, " ");
  let depth = 0;
  let fragment = false;
  for (const [word] of bare.matchAll(/[{}]|\w+/g)) {
    if (word === "{") {
      if (depth++ === 0 && !fragment) break;
    } else if (word === "}") {
      if (--depth === 0) fragment = false;
    } else if (depth === 0 && !fragment) {
      if (word === "mutation" || word === "subscription" || word === "query") return word;
      fragment = word === "fragment";
    }
  }
  return "query";
}
