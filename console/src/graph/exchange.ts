import { type Exchange, makeErrorResult, makeResult, type Operation, type OperationResult, stringifyDocument } from "@urql/core";
import { type Canopy, CanopyError, type TypedDocument } from "canopy-client";
import { filter, make, merge, mergeMap, pipe, takeUntil } from "wonka";

type Data = Record<string, unknown>;
type Document = TypedDocument<Data, Data>;

/** Has the client of Canopy carry operations, which renews tokens, tries again, and comes back after interruptions. */
export function overCanopy(canopy: Canopy): Exchange {
  return ({ forward }) => (operations) => {
    const changes = { ended: 0, turns: new Map<unknown, Promise<unknown>>() };
    const answers = pipe(
      operations,
      filter(({ kind }) => kind !== "teardown"),
      mergeMap((operation) =>
        pipe(answersOf(canopy, operation, changes), takeUntil(pipe(operations, filter(({ kind, key }) => kind === "teardown" && key === operation.key)))),
      ),
    );
    return merge([answers, pipe(operations, filter(({ kind }) => kind === "teardown"), forward)]);
  };
}

function answersOf(canopy: Canopy, operation: Operation, changes: Changes) {
  return make<OperationResult>(({ next, complete }) => {
    const stop = new AbortController();
    const tell = (result: OperationResult) => void (stop.signal.aborted || next(result));
    const give = (data: Data) => tell(makeResult(operation, { data }));
    ask(canopy, operation, changes, stop.signal, give).catch((why: unknown) => tell(failed(operation, why))).finally(complete);
    return () => stop.abort();
  });
}

async function ask(
  canopy: Canopy, { kind, query, variables: given, context }: Operation, changes: Changes, signal: AbortSignal, give: (data: Data) => void,
): Promise<void> {
  const document = stringifyDocument(query) as Document;
  const variables = given as Data;
  const request = () => canopy.request(document, variables, { signal });
  if (kind === "query") return give(await afterChanges(changes, request));
  if (kind === "mutation") return give(await inTurn(changes.turns, variables, request).finally(() => changes.ended++));
  for await (const event of canopy.subscribe(document, variables, { signal, once: context.once, onConnected: context.onConnected })) give(event);
}

interface Changes {
  /** How many have ended, well or not. */
  ended: number;
  /** The last one to each object. */
  turns: Map<unknown, Promise<unknown>>;
}

/** Changes an object once the change before has ended: of two on their way at once, either can come first, and a switch would stay as it was not left. */
async function inTurn<R>(turns: Map<unknown, Promise<unknown>>, { input }: Data, change: () => Promise<R>): Promise<R> {
  const id = (input as { id?: string } | undefined)?.id;
  if (id === undefined) return change();
  const before = turns.get(id);
  const answer = (async () => {
    await before;
    return change();
  })();
  const ended = answer.catch(() => undefined);
  turns.set(id, ended);
  void ended.then(() => turns.get(id) === ended && turns.delete(id));
  return answer;
}

/** Reads something, and once more where something was changed meanwhile: the answer may be from before, and would not be asked for again. */
async function afterChanges(changes: Changes, read: () => Promise<Data>): Promise<Data> {
  const { ended } = changes;
  const data = await read();
  return changes.ended === ended ? data : read();
}

/** What is left of an answer some of which failed, and each failure under its path. */
function failed(operation: Operation, why: unknown): OperationResult {
  if (!(why instanceof CanopyError) || !why.data) return makeErrorResult(operation, why instanceof Error ? why : new Error(String(why)));
  const errors = why.all.map((error) => ({ message: error.message, path: error.path, extensions: { canopy: error } }));
  return makeResult(operation, { data: why.data, errors: errors as never });
}
